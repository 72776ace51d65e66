"""The calibration errors of other libraries, in the terms of `ErrorDefinition`."""

from oddsmith.metrics import ErrorDefinition

#: They compare with edges in floating point; here a forecast within 1e-12 of an edge of equal width lies on it.
PEERS = {
    "calzone": ErrorDefinition(10, "width", "right", "dropped"),
    "calzone_equal_count": ErrorDefinition(10, "quantile", "right", "dropped"),
    "calzone_top_class": ErrorDefinition(10, "width", "right", classes="top"),
    # MAPIE's 50 are edges, not bins.
    "mapie": ErrorDefinition(49, "width", "right", "apart"),
    "netcal": ErrorDefinition(10, "width"),
    "netcal_ace": ErrorDefinition(10, "width", norm="mean"),
    "netcal_mce": ErrorDefinition(10, "width", norm="max"),
    "probcal": ErrorDefinition(15, "quantile"),
    "probcal_debiased": ErrorDefinition(15, "quantile", debias="bin"),
    "probcal_sweep": ErrorDefinition(100, "quantile", sweep=True),
    "sklearn": ErrorDefinition(5, "width", "right"),
    "torchmetrics": ErrorDefinition(15, "width", "left", "apart"),
    "uncertainty_calibration": ErrorDefinition(15, "split_or_distinct", norm="l2", debias="total"),
    "uncertainty_calibration_discrete": ErrorDefinition(bins="distinct", norm="l2", debias="total"),
    "uncertainty_calibration_ece": ErrorDefinition(15, "width", "right"),
}
