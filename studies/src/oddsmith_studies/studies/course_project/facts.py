"""Sentences and numbers of the page: answers to the six questions of the hand-out."""

from collections import Counter

import numpy as np

from oddsmith.metrics import Interval
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies._tables import written
from oddsmith_studies.studies.course_project.measured import (
    difference,
    infinite,
    mean,
    mean_of,
    rejected,
    site_methods,
    values,
)
from oddsmith_studies.studies.course_project.parts import CALIBRATION, SIZES, SMALL_TRAIN, TEST, TRAIN, WORDS, costs


def all_remarks(results: Results) -> dict[str, str]:
    """Return everything that the page quotes."""
    return {
        "train": f"{TRAIN:,}",
        "calibration": f"{CALIBRATION}",
        "test": f"{TEST}",
        "words": f"{WORDS:,}",
        "splits": f"{len(results.starting('split-'))}",
        "small_train": f"{SMALL_TRAIN:,}",
        "largest_size": f"{SIZES[-1]:,}",
        "repeats": f"{len(results.starting('sizes-'))}",
        **_training(results),
        **_squashing(results),
        **_platt(results),
        **_isotonic(results),
        **_sites(results),
    }


def _training(results: Results) -> dict[str, str]:
    parts, first, tried = results.starting("split-"), results["split-000"], costs(results.setting.quick)
    chosen = Counter(part["cost"] for part in parts)
    usual, times = chosen.most_common(1)[0]
    return {
        "costs": f"{len(tried)} values from {tried[0]:.4f} to {tried[-1]:g}",
        "first_cost": f"{first['cost']:g}",
        "first_cv_error": _percent(min(first["cv_error"])),
        "first_error": _percent(first["error"]),
        "cost_range": f"{min(chosen):g} and {max(chosen):g} ({usual:g} in {times} of {len(parts)})",
        "test_error": _percent(mean([part["error"] for part in parts])),
    }


def _squashing(results: Results) -> dict[str, str]:
    slope = mean_of(results, "split-", "squashing", "slope")
    return {
        "squashed_slope": written(slope, ".2f"),
        "is_calibrated": "No." if slope.low > 1 or slope.high < 1 else "These data do not decide.",
        "lean": "underconfident, too close to ½" if slope.value > 1 else "overconfident, too close to 0 and 1",
        "rejected": f"{100 * rejected(results, 'squashing'):.0f} %",
    }


def _platt(results: Results) -> dict[str, str]:
    change = difference(results, "split-", "Platt", "Platt, b = 0", "log_loss")
    gain = difference(results, "split-", "Platt", "squashing", "log_loss")
    parts = results.starting("split-")
    learned, slopes, penalized = (
        np.array([part[key] for part in parts]) for key in ("intercept", "slope", "penalized_slope")
    )
    return {
        "b_change": written(change, "+.4f"),
        "b_verdict": _by_sign(
            change, "Learning b is better", "Holding b at 0 is better", "Neither is measurably better"
        ),
        "b_mean": f"{learned.mean():+.2f}",
        "b_spread": f"{learned.std(ddof=1):.2f}",
        "gain": written(gain, "+.3f"),
        "gain_verdict": _by_sign(
            gain, "Both are better than squashing", "Squashing is better", "The gain on squashing is not certain"
        ),
        "slope": f"{slopes.mean():.2f}",
        "penalized_slope": f"{penalized.mean():.2f}",
    }


def _isotonic(results: Results) -> dict[str, str]:
    log, squared = (difference(results, "split-", "isotonic", "Platt", each) for each in ("log_loss", "squared_error"))
    return {
        "isotonic_log": written(log, "+.4f"),
        "isotonic_squared": written(squared, "+.4f"),
        "isotonic_verdict": _by_sign(log, "better", "worse", "not measurably different"),
        "infinite": f"{infinite(results, 'isotonic')}",
        "milder": f"{values(results, 'split-', 'isotonic', 'log_loss_at_1e-6').mean():.3f}",
        "bounded": written(difference(results, "split-", "isotonic, bounded", "Platt", "log_loss"), "+.4f"),
    }


def _sites(results: Results) -> dict[str, str]:
    best = min(site_methods(results), key=lambda name: mean_of(results, "sites-", name, "log_loss").value)
    gain = difference(results, "sites-", best, "softmax of the margins", "log_loss")
    return {"best_of_sites": best, "gain_of_sites": written(gain, "+.3f")}


def _percent(share: float | Interval) -> str:
    return written(share, ".1%").replace("%", " %")


def _by_sign(change: Interval, below: str, above: str, undecided: str) -> str:
    """Choose words by where the interval of a difference lies."""
    return below if change.high < 0 else above if change.low > 0 else undecided
