"""
Decisions and segments
======================

What acting on probabilities is worth, which share can be decided automatically, and whose probabilities are off.
"""

import numpy as np
import pandas as pd

from oddsmith.audit import audit
from oddsmith.metrics import forecast_from_arrays
from oddsmith.plots import (
    AuditDisplay,
    CalibrationBeltDisplay,
    CumulativeCalibrationDisplay,
    DecisionCurveDisplay,
    DecompositionDisplay,
    MurphyDisplay,
    NetBenefitDifferenceDisplay,
    RiskCoverageDisplay,
)

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
# The difference to another forecast of the same cases has a band for all thresholds together.

timid = 1 / (1 + np.exp(-0.5 * log_odds + 0.5))
display = NetBenefitDifferenceDisplay.from_predictions(y, p, timid, name="model − timid one")

# %%
# Which forecast is better, by whatever measure?
# ----------------------------------------------
# Mean elementary scores by threshold: the Brier score, the log-loss and all other proper scores are means of them.

display = MurphyDisplay.from_predictions(y, p, name="model")
display = MurphyDisplay.from_predictions(y, timid, name="timid", ax=display.ax_)

# %%
# Miscalibration and discrimination of both at a glance; the best are at the top left.

forecasts = {"model": p, "timid": timid, "base rate": np.full(4000, y.mean())}
tables = {name: forecast_from_arrays(y, each) for name, each in forecasts.items()}
display = DecompositionDisplay.from_forecasts(tables).plot()

# %%
# Calibration without bins
# ------------------------
# The belt contains the true shares of positives for all probabilities together; cumulative differences rise where
# probabilities are too low.

display = CalibrationBeltDisplay.from_predictions(y, p, name="model")

# %%

display = CumulativeCalibrationDisplay.from_predictions(y, p, name="model")

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
