"""
Decisions and segments
======================

What acting on probabilities is worth, which share can be decided automatically, and whose probabilities are off.
"""

import numpy as np
import pandas as pd

from oddsmith.audit import audit
from oddsmith.plots import AuditDisplay, DecisionCurveDisplay, RiskCoverageDisplay

rng = np.random.default_rng(0)
log_odds = rng.normal(-1.5, 1.5, 4000)
p = 1 / (1 + np.exp(-log_odds))
shop = rng.choice(["north", "south", "west"], 4000)
y = rng.random(4000) < np.where(shop == "west", np.minimum(1, 1.6 * p), p)

# %%
# Is acting worth it?
# -------------------
# Net benefit by threshold, next to treating every case and none.

display = DecisionCurveDisplay.from_predictions(y, p, name="model")

# %%
# How much can be decided automatically?
# --------------------------------------
# The error among the cases with the most certain decisions, by their share.

display = RiskCoverageDisplay.from_predictions(y, p, name="model")

# %%
# Who is miscalibrated?
# ---------------------
# Observed over expected positives of each segment; filled where the difference is significant after correction.

rows = pd.DataFrame({"shop": shop, "size": rng.lognormal(size=4000), "probability": p, "label": y})
display = AuditDisplay.from_audit(audit(rows, ["shop", "size"])).plot()
