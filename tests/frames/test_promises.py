"""What resolution="auto" promises: fits to cells are the fits to the scores."""

import math

import numpy as np
import pytest
from scipy.special import expit, logit

import oddsmith
from catalogue import CLASSES
from oddsmith import (
    BetaCalibrator,
    CenteredIsotonicCalibrator,
    GaussianCalibrator,
    HistogramCalibrator,
    IsotonicCalibrator,
    LogisticCalibrator,
    LogisticCorrectionCalibrator,
    MinMaxCalibrator,
    PiecewiseLogisticCalibrator,
    PlattCalibrator,
    ScoreTable,
    SquashCalibrator,
)
from oddsmith.errors import InvalidInputError
from optional import needs
from samples import ours_allowed

polars = needs("polars")

#: More than are kept exact.
N = 600_000


def labels(rng, log_odds):
    return (rng.random(len(log_odds)) < expit(log_odds)).astype(np.int64)


def normal(rng):
    scores = rng.normal(-1, 2, N)
    return 0.7 * scores + 0.3, labels(rng, scores)


def heavy_tailed(rng):
    scores = rng.standard_t(1.5, N)
    return scores, labels(rng, np.clip(scores, -8, 8))


def skewed(rng):
    scores = np.exp(rng.normal(0, 2, N))
    return scores, labels(rng, np.log(scores) - 1)


def very_skewed(rng):
    """Most rows share a few hundred cells, and most cells have one row."""
    scores = np.exp(rng.normal(0, 3, N))
    return scores, labels(rng, np.log(scores) - 1)


def far_clusters(rng):
    """Two clusters, each with labels that depend on the place within."""
    far = rng.random(N) < 0.5
    within = rng.normal(0, 1, N)
    return np.where(far, 1e4 + within, within), labels(rng, within)


def peaked(rng):
    """Nine tenths of the scores, and all that they tell, in a thousandth of their range."""
    scores = np.where(rng.random(N) < 0.9, rng.normal(0.3, 1e-3, N), rng.normal(0, 1, N))
    return scores, labels(rng, np.clip((scores - 0.3) * 1e3, -3, 3))


def far_from_zero(rng):
    scores = rng.normal(0, 1, N) + 1e6
    return scores, labels(rng, 2 * (scores - 1e6))


def with_a_default(rng):
    """A fifth of the rows have the same score amid all others."""
    scores = np.where(rng.random(N) < 0.2, 0.3, rng.normal(0, 1, N))
    return scores, labels(rng, scores)


def discrete(rng):
    scores = np.round(rng.normal(0, 1, N), 3)
    return scores, labels(rng, scores)


def votes(rng):
    prob = rng.integers(0, 101, N) / 100
    return prob, labels(rng, 8 * prob - 4)


def boosted(rng):
    """Probabilities like those of boosted trees."""
    log_odds = rng.normal(-2, 2, N)
    return expit(log_odds), labels(rng, 1.3 * log_odds + 0.2)


def uniform(rng):
    prob = rng.random(N)
    return prob, labels(rng, logit(prob))


def too_sure(rng):
    """Probabilities like those of naive Bayes: most of them within 1e-4 of 0 or 1, many within 1e-10."""
    log_odds = rng.normal(0, 12, N)
    return expit(log_odds), labels(rng, 0.15 * log_odds)


def some_zeros(rng):
    prob = np.where(rng.random(N) < 0.3, 0.0, expit(rng.normal(-1, 2, N)))
    return prob, labels(rng, 3 * prob - 1)


SCORES = [normal, heavy_tailed, skewed, very_skewed, far_clusters, peaked, far_from_zero, with_a_default]
PROBABILITIES = [boosted, uniform, too_sure, some_zeros]
FEW = [discrete, votes]


@pytest.fixture(scope="module", params=[*SCORES, *PROBABILITIES], ids=lambda draw: draw.__name__)
def case(request):
    """Scores and labels, their exact table, and the table of automatic cells."""
    scores, y = request.param(np.random.default_rng(0))
    cells = ScoreTable.from_frame(polars.DataFrame({"s": scores, "y": y}), "s", "y", resolution="auto")
    assert cells.log_odds_cells == (request.param in PROBABILITIES)
    assert cells.resolution is not None
    return request.param, scores, y, ScoreTable.from_arrays(scores, y), cells


@pytest.mark.parametrize("draw", FEW, ids=lambda draw: draw.__name__)
def test_few_distinct_scores_stay_exact(draw):
    scores, y = draw(np.random.default_rng(0))
    frame = polars.DataFrame({"s": scores, "y": y})
    assert ScoreTable.from_frame(frame, "s", "y", resolution="auto") == ScoreTable.from_arrays(scores, y)


def test_cells_are_few(case):
    draw, _, _, _, cells = case
    assert len(cells) <= {peaked: 80_000, skewed: 110_000, very_skewed: 200_000, heavy_tailed: 50_000}.get(draw, 16_000)


def test_parameters_of_smooth_fits_move_by_less_than_a_hundredth_of_their_errors(case):
    _, scores, y, exact, cells = case
    knots = np.quantile(scores, [0.4, 0.7])
    with ours_allowed():
        wanted, found = (_fits(table, knots) for table in (exact, cells))
    errors = _standard_errors(wanted, scores, y, knots)
    for name, fit in wanted.items():
        moved = np.abs(_parameters(found[name], knots) - _parameters(fit, knots)) / errors[name]
        assert np.all(moved < 0.01), f"{name} moved by {moved}"


def _fits(table, knots):
    calibrators = {
        "logistic": LogisticCalibrator(),
        "Platt": PlattCalibrator(),
        "Gaussian": GaussianCalibrator(),
        "beta": BetaCalibrator(),
        "pieces": PiecewiseLogisticCalibrator(knots=list(knots), penalty=0.0),
    }
    return {name: calibrator.fit_table(table) for name, calibrator in calibrators.items()}


def _parameters(fit, knots):
    if isinstance(fit, GaussianCalibrator):
        sides = (fit.positive_.parameters, fit.negative_.parameters)
        return np.array([side[name] for side in sides for name in ("mu", "sigma")])
    if isinstance(fit, PiecewiseLogisticCalibrator):
        return np.concatenate([fit.log_odds(knots[:1]), fit.slopes_])
    return np.array([fit.a_, fit.b_, fit.c_] if isinstance(fit, BetaCalibrator) else [fit.a_, fit.b_])


def _standard_errors(fits, scores, y, knots):
    one, (left, right) = np.ones(N), knots
    line = _errors([scores, one], fits["logistic"].log_odds(scores))
    log_odds = scores
    if fits["beta"].input_ == "probability":
        held = np.clip(scores, 2.0**-52, 1 - 2.0**-52)
        log_odds = np.log(held / (1 - held))
    logs = [-np.logaddexp(0, -log_odds), np.logaddexp(0, log_odds), one]
    hinges = [one, np.minimum(scores - left, 0), np.clip(scores - left, 0, right - left), np.maximum(scores - right, 0)]
    sides = [scores[y == 1], scores[y == 0]]
    return {
        "logistic": line,
        "Platt": line,
        "Gaussian": np.array([side.std() / math.sqrt(twice * len(side)) for side in sides for twice in (1, 2)]),
        # Far from 0 all probabilities are 1 and log p is constant: there is nothing to estimate.
        "beta": _errors(logs, fits["beta"].log_odds(scores)) if np.ptp(logs[0]) > 1e-3 else np.full(3, np.inf),
        "pieces": _errors(hinges, fits["pieces"].log_odds(scores)),
    }


def _errors(features, log_odds):
    """Return the standard errors of a logistic fit, by a triangular factor that does not mind large means."""
    prob = expit(log_odds)
    weighted = np.column_stack(features) * np.sqrt(prob * (1 - prob))[:, None]
    triangle = np.linalg.qr(weighted, mode="r")
    return np.sqrt(np.sum(np.linalg.inv(triangle) ** 2, axis=1))


#: Smooth fits, whose parameters are looked at above, and maps that fit nothing or the two ends alone.
SMOOTH = {LogisticCalibrator, PlattCalibrator, GaussianCalibrator, BetaCalibrator}
FIXED = {SquashCalibrator, LogisticCorrectionCalibrator, MinMaxCalibrator}
#: Bounded, for an infinite loss tells nothing.
BOUNDED = {IsotonicCalibrator: {"bounded": True}, CenteredIsotonicCalibrator: {"bounded": True}}
OTHERS = [cls(**BOUNDED.get(cls, {})) for cls in CLASSES if cls not in SMOOTH | FIXED]
OTHERS += [HistogramCalibrator(n_bins=5, smoothing=None), PiecewiseLogisticCalibrator(n_pieces="grow")]


@pytest.mark.parametrize("calibrator", OTHERS, ids=str)
def test_held_out_loss_of_other_fits_moves_by_less_than_a_fiftieth_of_its_error(case, calibrator):
    """Or the fit says that a choice depends on the cells."""
    draw, _, _, exact, cells = case
    moved, said = _moved(calibrator, exact, cells, *draw(np.random.default_rng(1)))
    # The default pools long tables itself, in other blocks where scores are cells.
    assert moved < (0.04 if isinstance(calibrator, oddsmith.AutoCalibrator) else 0.02) or said


def _moved(calibrator, exact, cells, scores, y):
    """Return the change of the mean loss, in standard errors, and what the fit says about cells."""
    sign = np.where(y == 1, -1, 1)
    with ours_allowed():
        wanted, found = (
            np.logaddexp(0, sign * np.clip(calibrator.fit_table(table).log_odds(scores), -36, 36))
            for table in (exact, cells)
        )
    error = wanted.std() / math.sqrt(N)
    said = [message for message in calibrator.fit_warnings_ if "width of the cells" in message]
    return abs(found.mean() - wanted.mean()) / error, said


@pytest.mark.parametrize("seed", [1, 3])
def test_centered_isotonic_fits_warn_where_rows_in_a_gap_decide(seed):
    """Two widths of cells agree by chance in these samples, while the fit to the scores is far away."""
    scores, y = far_clusters(np.random.default_rng(seed))
    cells = ScoreTable.from_frame(polars.DataFrame({"s": scores, "y": y}), "s", "y", resolution="auto")
    exact, again = ScoreTable.from_arrays(scores, y), far_clusters(np.random.default_rng(seed + 1000))
    moved, said = _moved(CenteredIsotonicCalibrator(bounded=True), exact, cells, *again)
    assert moved > 1
    assert "in these cells" in said[0]


def test_leaving_out_few_rows_moves_the_default_as_far_as_cells_do(case):
    """Its probabilities depend on the edges of the blocks in which it pools long tables."""
    _, scores, y, exact, cells = case
    fewer = ScoreTable.from_arrays(scores[N // 1000 :], y[N // 1000 :])
    with ours_allowed():
        prob, by_cells, by_fewer = (
            oddsmith.AutoCalibrator().fit_table(table).map_.probability(scores) for table in (exact, cells, fewer)
        )
    assert np.linalg.norm(by_cells - prob) < 2 * np.linalg.norm(by_fewer - prob)


def test_the_width_depends_on_the_rows_alone():
    scores, y = heavy_tailed(np.random.default_rng(0))
    order = np.argsort(np.abs(scores))  # the tails come last
    frame = polars.DataFrame({"s": scores, "y": y})
    tables = [ScoreTable.from_frame(rows, "s", "y", resolution="auto") for rows in (frame, frame[order].lazy())]
    assert tables[0].grid == tables[1].grid
    np.testing.assert_array_equal(tables[0].pos, tables[1].pos)


def test_weights_are_worth_as_many_rows_as_they_are():
    scores, y = normal(np.random.default_rng(0))
    frame = polars.DataFrame({"s": scores, "y": y, "n": np.full(N, 3), "w": np.full(N, 0.01)})
    tables = [ScoreTable.from_frame(frame, "s", "y", weight=name, resolution="auto") for name in (None, "n", "w")]
    assert tables[0].resolution == tables[2].resolution >= tables[1].resolution >= tables[0].resolution / 4


def test_every_segment_gets_cells_that_are_fine_enough():
    rng = np.random.default_rng(0)
    narrow = rng.random(N) < 0.1
    scores = np.where(narrow, 1e-2, 1.0) * rng.normal(size=N)
    y = labels(rng, np.where(narrow, 1e2, 1.0) * scores)
    frame = polars.DataFrame({"s": scores, "y": y, "narrow": narrow})
    whole = ScoreTable.from_frame(frame, "s", "y", resolution="auto")
    parts = ScoreTable.from_frame(frame, "s", "y", by="narrow", resolution="auto")
    assert parts[True].resolution == parts[False].resolution < whole.resolution
    exact = LogisticCalibrator().fit(scores[narrow], y[narrow])
    assert LogisticCalibrator().fit_table(parts[True]).a_ == pytest.approx(exact.a_, rel=1e-5)


def test_labels_that_depend_on_the_place_within_a_peak():
    """A peak so narrow that its cell looks like a single score, but for the class means within."""
    rng = np.random.default_rng(0)
    peak = rng.random(N) < 0.5
    scores = np.where(peak, 0.3001 + rng.normal(0, 2e-6, N), rng.normal(0, 1, N))
    log_odds = np.where(peak, np.clip((scores - 0.3001) * 5e5, -3, 3), 0.0)
    widths = [
        ScoreTable.from_frame(polars.DataFrame({"s": scores, "y": y}), "s", "y", resolution="auto").resolution
        for y in (labels(rng, 0 * log_odds), labels(rng, log_odds))
    ]
    assert widths[0] > 1e-4
    assert widths[1] < 1e-6


def test_scores_too_peaked_for_cells_are_refused(monkeypatch):
    scores, y = peaked(np.random.default_rng(0))
    monkeypatch.setattr("oddsmith.frames.scored_frame.MAX_GROUPS", 30_000)
    with pytest.raises(InvalidInputError, match=r"too peaked for cells of one width .* Hint: pass that resolution"):
        ScoreTable.from_frame(polars.DataFrame({"s": scores, "y": y}), "s", "y", resolution="auto")
