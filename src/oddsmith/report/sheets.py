"""Parts of a report that are made on request: segments, and the sheet of clinical prediction models."""

from collections.abc import Iterator, Mapping
from typing import Any

from oddsmith.audit import Audit
from oddsmith.metrics import clinical_sheet, plain
from oddsmith.report.advice import UNCALIBRATED
from oddsmith.report.methods import MethodComparison
from oddsmith.report.wording import figure, p_value

__all__ = ["clinical_part", "rows_of_audit", "rows_of_clinical", "with_audit"]

#: Samples of each interval.
_SAMPLES = 400

#: Segments of the table.
_SHOWN = 30

_TITLES = {
    "calibration_in_the_large": "calibration in the large (intercept at slope 1)",
    "calibration_slope": "calibration slope",
    "roc_auc": "c-statistic (area under the ROC curve)",
    "scaled_brier": "scaled Brier score",
    "nagelkerke_r2": "Nagelkerke's R²",
}
_SMOOTHERS = {"loess": "loess", "spline": "restricted cubic spline", "isotonic": "isotonic regression"}

#: Thresholds at which net benefit is shown in the table.
_THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.5)


def with_audit(summary: Mapping[str, Any], found: Audit, method: str) -> dict[str, Any]:
    """Add the calibration of segments to a report on two classes.

    Parameters
    ----------
    summary : mapping
        From `summarize`.
    found : Audit
        From `oddsmith.audit.audit`, of probabilities of the same rows.
    method : str
        Whose probabilities they are.

    Returns
    -------
    dict

    See Also
    --------
    oddsmith.audit.audit : Makes what it adds.
    """
    content = plain({"method": method, "verdict": found.verdict, **found.to_dict()})
    for one, segment in zip(content["segments"], found.segments, strict=True):
        one["name"] = segment.name
    return {**summary, "audit": content}


def clinical_part(compared: MethodComparison, methods: list[str], random_state: int) -> dict[str, Any]:
    """Return the sheets of methods on held-out cases, and the difference in net benefit of the last and the first."""
    sheets = {}
    for method in methods:
        forecast, groups = compared.held_out_forecast(method), compared.groups(method)
        sheets[method] = clinical_sheet.of(forecast, groups=groups, n_resamples=_SAMPLES, random_state=random_state)
    difference = None
    if len(methods) > 1 and methods[0] == UNCALIBRATED:
        difference = compared.compare_net_benefit(methods[-1], methods[0])
    return dict(plain({"sheets": sheets, "difference": difference}))


def rows_of_clinical(part: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the rows of the sheet: a title, and for each method a value and what is written below it."""
    sheets = list(part["sheets"].values())
    yield {
        "title": "events",
        "cells": [_cell(figure(one["events"], 0), f"of {figure(one['rows'], 0)}") for one in sheets],
    }
    yield {"title": "observed/expected", "cells": [_with_interval(one["observed_expected"]) for one in sheets]}
    for name, title in _TITLES.items():
        yield {"title": title, "cells": [_with_interval(one["measures"][name]) for one in sheets]}
    for name, title in _SMOOTHERS.items():
        cells = [_distances(one["smooth"][name]) for one in sheets]
        yield {"title": f"ICI by {title}", "cells": cells}
    yield {"title": "calibration belt", "cells": [_belt(one["belt"]) for one in sheets]}
    for at in _THRESHOLDS:
        yield {"title": f"net benefit at {at:.0%}", "cells": [_net_benefit(one["decisions"], at) for one in sheets]}


def _cell(value: str, line: str = "") -> dict[str, Any]:
    return {"value": value, "lines": [line] if line else []}


def _with_interval(found: Mapping[str, Any] | str) -> dict[str, Any]:
    if isinstance(found, str):
        return _cell("–", found)
    return _cell(figure(found["value"]), f"[{figure(found['low'])}, {figure(found['high'])}]")


def _distances(found: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(found["ici"], str):
        return _cell("–", found["ici"])
    e50, e90, emax = (figure(found[name]) for name in ("e50", "e90", "emax"))
    return _cell(figure(found["ici"]), f"E50 {e50}, E90 {e90}, Emax {emax}")


def _belt(found: Mapping[str, Any] | str) -> dict[str, Any]:
    if isinstance(found, str):
        return _cell("–", found)
    text = p_value(found)
    return _cell(f"p {text}" if text.startswith("<") else f"p = {text}", f"degree {found['degree']}")


def _net_benefit(found: Mapping[str, Any], at: float) -> dict[str, Any]:
    place = min(range(len(found["thresholds"])), key=lambda i: abs(found["thresholds"][i] - at))
    return _cell(figure(found["net_benefit"][place]), f"treat all {figure(found['treat_all'][place])}")


def rows_of_audit(part: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of the table of segments, those with the largest harm first."""
    return [
        {
            "name": one["name"],
            "rows": figure(one["rows"]),
            "observed": figure(one["observed"], 0 if float(one["observed"]).is_integer() else 1),
            "expected": figure(one["expected"], 1),
            "ratio": figure(one["ratio"], 2),
            "interval": f"[{figure(one['ratio_low'], 2)}, {figure(one['ratio_high'], 2)}]",
            "p": p_value({"p_value": one["p_holm"]}),
        }
        for one in part["segments"][:_SHOWN]
    ]
