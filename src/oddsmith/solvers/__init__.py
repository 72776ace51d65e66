"""Penalized logistic fits, globally convergent: steps lower the objective, and the gradient tells when to stop."""
