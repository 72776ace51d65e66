"""The three calibrators in JavaScript, on the page to play with, are those of the library."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from oddsmith import IsotonicCalibrator, PiecewiseLogisticCalibrator, PlattCalibrator
from samples import ours_allowed

SCRIPT = Path(__file__).parents[2] / "docs" / "_static" / "calibration.js"

RUN = """
const maps = require(process.argv[1]);
const given = JSON.parse(require("fs").readFileSync(0, "utf8"));
const at = (places, map) => places.map((place) => maps.sigmoid(map(place)));
const answer = given.map(({ scores, labels, knots, penalty, places }) => ({
  platt: at(places, maps.platt(scores, labels)),
  isotonic: at(places, maps.isotonic(scores, labels)),
  bounded: at(places, maps.isotonic(scores, labels, true)),
  piecewise: at(places, maps.piecewise(scores, labels, knots, penalty)),
}));
console.log(JSON.stringify(answer));
"""


def sample(kind, n, seed):
    """Scores of one kind, and labels that follow them."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-0.5, 1.8, n)
    scores = {
        "honest": log_odds,
        "ties": np.round(log_odds, 1) + 0.0,
        "far": 1e6 + 3 * log_odds,
        "small": 1e-5 * np.sign(log_odds) * log_odds**2,
        "skewed": np.exp(1.5 * log_odds),
        "rare": log_odds - 3,
        "separable": log_odds,
    }[kind]
    y = rng.random(n) < 1 / (1 + np.exp(-(log_odds if kind != "rare" else log_odds - 3)))
    if kind == "separable":
        y = log_odds > np.median(log_odds)
    y[np.argmax(scores)], y[np.argmin(scores)] = True, False
    return scores, y.astype(int)


KINDS = ["honest", "ties", "far", "small", "skewed", "rare", "separable"]
CASES = [(kind, n, seed) for kind in KINDS for n, seed in [(30, 0), (200, 1), (3000, 2)]]


@pytest.fixture(scope="module")
def answers():
    """What JavaScript says, for all samples at once."""
    node = shutil.which("node")
    if node is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("node is not installed")
    given = []
    for case in CASES:
        scores, y = sample(*case)
        spread = np.ptp(scores)
        places = [*scores[:50], *np.linspace(scores.min() - spread / 2, scores.max() + spread / 2, 201)]
        knots = np.quantile(scores, [0.25, 0.75])
        penalty = np.var(scores)
        given.append({"scores": scores.tolist(), "labels": y.tolist(), "knots": knots.tolist(), "penalty": penalty})
        given[-1]["places"] = [float(place) for place in places]
    done = subprocess.run([node, "-e", RUN, str(SCRIPT)], input=json.dumps(given), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(zip(CASES, zip(given, json.loads(done.stdout), strict=True), strict=True))


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_the_maps_are_those_of_the_library(case, answers):
    given, answer = answers[case]
    knots, penalty = given["knots"], given["penalty"]
    ours = {
        "platt": PlattCalibrator(),
        "isotonic": IsotonicCalibrator(),
        "bounded": IsotonicCalibrator(bounded=True),
        "piecewise": PiecewiseLogisticCalibrator(knots=knots, penalty=penalty),
    }
    for name, calibrator in ours.items():
        with ours_allowed():
            fitted = calibrator.fit(given["scores"], given["labels"])
            expected = fitted.predict_proba(given["places"])[:, 1]
        np.testing.assert_allclose(answer[name], expected, rtol=0, atol=1e-6, err_msg=name)
