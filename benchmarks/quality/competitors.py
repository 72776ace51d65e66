"""Everything that turns scores into probabilities, behind one signature."""

import warnings
from collections.abc import Iterator
from functools import partial
from importlib.metadata import version
from typing import Any

import betacal
import numpy as np
import probcal
import splinecalib
import venn_abers
from scipy.special import expit
from sklearn.calibration import _SigmoidCalibration, _TemperatureScaling
from sklearn.isotonic import IsotonicRegression

from benchmarks.quality.probmetrics_peers import TWO, probmetrics_peers
from benchmarks.quality.tasks import NOTHING, OTHER_FORM, Calibrate, Competitor
from benchmarks.quality.versions import source_version
from oddsmith import calibrators

Array = np.ndarray

#: How far probabilities are held from 0 and 1 before their log-odds are taken.
_CLIP = float(np.finfo(float).eps)


def competitors() -> dict[str, Competitor]:
    """Return all competitors by name."""
    return {one.name: one for one in (*_ours(), *_peers())}


def are_probabilities(scores: Array) -> bool:
    """Tell whether scores may be taken for probabilities."""
    return bool(scores.min() >= 0 and scores.max() <= 1)


def _ours() -> Iterator[Competitor]:
    """Yield the library's calibrators; again with scores in another form where that matters, and for the default."""
    for name in calibrators.__all__:
        cls = getattr(calibrators, name)
        if cls is calibrators.Calibrator or not issubclass(cls, calibrators.Calibrator):
            continue
        default, other, label = partial(_default, cls), partial(_other_form, cls), source_version(cls)
        yield Competitor(name, label, default)
        if cls is calibrators.AutoCalibrator or _differ(default, other):
            yield Competitor(name + OTHER_FORM, label, other)


def _default(cls: Any, scores: Array, y: Array, test: Array) -> Array:
    return cls().fit(scores, y).predict_proba(test)[:, 1]


def _other_form(cls: Any, scores: Array, y: Array, test: Array) -> Array:
    if not are_probabilities(scores):
        return _default(cls, expit(scores), y, expit(test))
    scores, test = (np.log(held / (1 - held)) for held in (np.clip(part, _CLIP, 1 - _CLIP) for part in (scores, test)))
    return cls(input="log_odds").fit(scores, y).predict_proba(test)[:, 1]


def _differ(one: Calibrate, other: Calibrate) -> bool:
    """Tell whether two ways to calibrate differ on a small sample of probabilities."""
    rng = np.random.default_rng(0)
    scores = rng.uniform(0.01, 0.99, 200)
    y = (rng.random(200) < scores**2).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return not np.allclose(one(scores, y, scores), other(scores, y, scores), atol=1e-6)


def _peers() -> Iterator[Competitor]:
    """Yield doing nothing, and what others offer."""
    yield Competitor(NOTHING, "1", _nothing)
    for method in (_sigmoid, _isotonic, _temperature):
        yield Competitor(f"sklearn:{method.__name__[1:]}", version("scikit-learn"), method)
    for parameters in ("abm", "am", "ab"):
        yield Competitor(f"betacal:{parameters}", version("betacal"), partial(_beta, parameters))
    yield Competitor("splinecalib", version("splinecalib"), _spline)
    yield Competitor("venn-abers", version("venn-abers"), _venn)
    # Without segments the segmented one is its base, Platt's.
    left_out = {"BaseCalibrator", "SegmentedCalibrator"}
    names = [name for name in probcal.__all__ if name.endswith("Calibrator") and name not in left_out]
    for name in [*names, "CalibratorSelector"]:
        yield Competitor(f"probcal:{name}", version("probcal"), partial(_probcal, getattr(probcal, name)))
    yield from probmetrics_peers(TWO, _as_probabilities)


def _as_probabilities(scores: Array, test: Array) -> tuple[Array, Array]:
    """Return scores as a peer wants them that knows only probabilities."""
    return (scores, np.clip(test, 0, 1)) if are_probabilities(scores) else (expit(scores), expit(test))


def _two_columns(prob: Array) -> Array:
    return np.column_stack([1 - prob, prob])


def _nothing(scores: Array, y: Array, test: Array) -> Array:
    del y
    return _as_probabilities(scores, test)[1]


def _sigmoid(scores: Array, y: Array, test: Array) -> Array:
    return _SigmoidCalibration().fit(scores, y).predict(test)


def _isotonic(scores: Array, y: Array, test: Array) -> Array:
    return IsotonicRegression(out_of_bounds="clip").fit(scores, y).predict(test)


def _temperature(scores: Array, y: Array, test: Array) -> Array:
    if are_probabilities(scores):
        scores, test = _two_columns(scores), _two_columns(test)
    return _TemperatureScaling().fit(scores, y).predict(test)[:, 1]


def _beta(parameters: str, scores: Array, y: Array, test: Array) -> Array:
    scores, test = _as_probabilities(scores, test)
    return betacal.BetaCalibration(parameters).fit(scores[:, None], y).predict(test[:, None])


def _spline(scores: Array, y: Array, test: Array) -> Array:
    scores, test = _as_probabilities(scores, test)
    fitted = splinecalib.SplineCalib()
    fitted.fit(scores, y)
    return fitted.calibrate(test)


def _venn(scores: Array, y: Array, test: Array) -> Array:
    scores, test = _as_probabilities(scores, test)
    return venn_abers.VennAbers().fit(_two_columns(scores), y).predict_proba(_two_columns(test))[0][:, 1]


def _probcal(cls: Any, scores: Array, y: Array, test: Array) -> Array:
    scores, test = _as_probabilities(scores, test)
    return cls().fit(scores, y).predict_proba(test)
