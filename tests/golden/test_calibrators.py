"""The reference vectors of every binary calibrator, at their tolerances."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import oddsmith
from oddsmith.calibrators._families import ScaleLimits, asymmetric_gaussian_at, asymmetric_laplace_at, hybrid_at
from oddsmith.calibrators._mode import ClassScores

METHODS = json.loads(Path(__file__).with_name("vectors.json").read_text())["methods"]

#: The vectors state continuity constants absolutely.
ABSOLUTE = {"epsilon": 1e-6, "inf": 1e6}
LIMITS = ScaleLimits(1e-6, 1e6, 1e-6, 1e6)


def cases(method):
    return [pytest.param(case, id=f"{method}: {case['case']}") for case in METHODS[method]]


def fit(calibrator, case):
    labels = case.get("labels", case.get("labels01"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oddsmith.errors.OddsmithWarning)
        return calibrator.fit(case["scores"], labels, case.get("weights"))


def check_parameters(fitted, expected):
    for key, value in expected.items():
        assert fitted[key] == pytest.approx(value, rel=1e-6, abs=1e-6), key


def check_map(cal, case):
    query = case["query"]
    np.testing.assert_allclose(cal.predict_proba(query)[:, 1], case["probabilities"], atol=1e-8, rtol=0)
    if "log_odds" in case:
        np.testing.assert_allclose(cal.log_odds(query), case["log_odds"], rtol=1e-9, atol=1e-8)
    if "log_likelihood" in case:
        y = np.asarray(case["labels"])
        weights = np.ones(len(y)) if case.get("weights") is None else np.asarray(case["weights"])
        total = -np.sum(weights * np.logaddexp(0, -y * cal.log_odds(case["scores"])))
        assert total == pytest.approx(case["log_likelihood"], abs=1e-8)


@pytest.mark.parametrize("case", cases("squashing"))
def test_squashing(case):
    check_map(fit(oddsmith.SquashCalibrator(), case), case)


@pytest.mark.parametrize("case", cases("raw_minmax"))
def test_min_max(case):
    check_map(fit(oddsmith.MinMaxCalibrator(), case), case)


@pytest.mark.parametrize("case", cases("logreg"))
def test_logistic(case):
    options = case["options"]
    cal = fit(oddsmith.LogisticCalibrator(options["lambda"], options["fit_intercept"]), case)
    check_parameters({"a": cal.a_, "b": cal.b_}, case["parameters"])
    check_map(cal, case)


@pytest.mark.parametrize("case", cases("platt"))
def test_platt(case):
    cal = fit(oddsmith.PlattCalibrator(), case)
    plus, minus = cal.targets_
    found = {"A": -cal.a_, "B": -cal.b_, "a": cal.a_, "b": cal.b_, "t_plus": plus, "t_minus": minus}
    check_parameters(found, case["parameters"])
    check_map(cal, case)


def check_densities(cal, case):
    parameters = case["parameters"]
    for side, density in (("positive", cal.positive_), ("negative", cal.negative_)):
        check_parameters(density.parameters, parameters[side])
        assert density.log_likelihood == pytest.approx(case["class_log_likelihood"][side], abs=1e-8)
    assert cal.prior_positive_ == pytest.approx(parameters["prior_positive"], abs=1e-11)
    check_map(cal, case)


@pytest.mark.parametrize("case", cases("gaussian"))
def test_gaussian(case):
    prior = "frequency" if "frequency" in case["case"] else "add-one"
    cal = fit(oddsmith.GaussianCalibrator(prior=prior, **ABSOLUTE), case)
    check_densities(cal, case)
    if "quadratic" in case:
        # P = 1/(1 + exp(a f² + b f + c)): read the polynomial back from three log-odds.
        c, b, a = np.polynomial.polynomial.polyfit([-1, 0, 1], -cal.log_odds([-1, 0, 1]), 2)
        check_parameters({"a": a, "b": b, "c": c, "turning_point_f": -b / (2 * a)}, case["quadratic"])


@pytest.mark.parametrize(("case", "bias"), list(zip(METHODS["gaussian_tied"], ("zero", "bayes"), strict=True)))
def test_tied_gaussian(case, bias):
    cal = fit(oddsmith.GaussianCalibrator(tied=True, bias=bias), case)
    found = {"a": cal.a_, "b": cal.b_, "variance": cal.variance_}
    check_parameters(found, {key: value for key, value in case["parameters"].items() if key in found})
    check_map(cal, case)


@pytest.mark.parametrize("case", cases("laplace"))
def test_laplace(case):
    check_densities(fit(oddsmith.LaplaceCalibrator(**ABSOLUTE), case), case)


@pytest.mark.parametrize("case", cases("asymmetric_laplace"))
def test_asymmetric_laplace(case):
    cal = oddsmith.AsymmetricLaplaceCalibrator(case["options"]["subdivisions"], **ABSOLUTE)
    check_densities(fit(cal, case), case)


@pytest.mark.parametrize("case", cases("asymmetric_laplace_pieces"))
def test_asymmetric_laplace_pieces(case):
    cal = fit(oddsmith.AsymmetricLaplaceCalibrator(), case)
    low, high = cal.negative_.parameters["theta"], cal.positive_.parameters["theta"]
    found = {"theta_minus": low, "theta_plus": high}
    for name, start in (
        ("slope_left", low - 2),
        ("slope_middle", (low + high) / 2),
        ("slope_right", high + 1),
    ):
        found[name] = np.diff(cal.log_odds([start, start + 0.5]))[0] / 0.5
    check_parameters(found, case["parameters"])


#: The vectors with a continuous mode are limits of ever finer subdivisions.
@pytest.mark.parametrize("case", cases("asymmetric_gaussian"))
def test_asymmetric_gaussian(case):
    subdivisions = 1 if "data points only" in case["case"] else 10
    if "continuous" not in case["case"]:
        check_densities(fit(oddsmith.AsymmetricGaussianCalibrator(subdivisions, **ABSOLUTE), case), case)
        return
    cal = fit(oddsmith.AsymmetricGaussianCalibrator(20_000, **ABSOLUTE), case)
    for side, density in (("positive", cal.positive_), ("negative", cal.negative_)):
        assert density.log_likelihood == pytest.approx(case["class_log_likelihood"][side], abs=1e-8)
        for key, value in case["parameters"][side].items():
            assert density.parameters[key] == pytest.approx(value, abs=2e-5), key


@pytest.mark.parametrize("case", cases("hybrid_gauss_exp"))
def test_hybrid(case):
    cal = oddsmith.HybridCalibrator(case["options"]["subdivisions"], **ABSOLUTE)
    check_densities(fit(cal, case), case)
    if "log_odds_turning_points" in case:
        turns = case["log_odds_turning_points"]
        held = fit(oddsmith.HybridCalibrator(hold=True, **ABSOLUTE), case).map_
        assert held.knots[[0, -1]] == pytest.approx([turns["left"], turns["right"]], abs=1e-6)
        assert held.is_monotone


def one_class(case):
    return ClassScores(np.sort(np.array(case["scores"], dtype=float)), None, 1.0, len(case["scores"]))


@pytest.mark.parametrize("case", cases("asymmetric_laplace_fixed_theta"))
def test_asymmetric_laplace_at_a_fixed_mode(case):
    sample, expected = one_class(case), case["parameters"]
    mode = sample.mode_at(expected["theta"], (1, 1))
    assert mode.left == pytest.approx(expected["D_l"])
    assert mode.right == pytest.approx(expected["D_r"])
    density = asymmetric_laplace_at(mode, sample, LIMITS)
    check_parameters(density.parameters, {key: expected[key] for key in ("theta", "beta", "gamma")})
    assert density.log_likelihood == pytest.approx(case["log_likelihood"], abs=1e-8)


@pytest.mark.parametrize("case", cases("asymmetric_laplace_continuity"))
def test_asymmetric_laplace_continuity(case):
    sample, expected = one_class(case), case["parameters"]
    density = asymmetric_laplace_at(sample.mode_at(expected["theta"], (1, 1)), sample, LIMITS)
    check_parameters(density.parameters, expected)
    assert density.log_likelihood == pytest.approx(case["log_likelihood"], abs=1e-8)


@pytest.mark.parametrize("case", cases("asymmetric_gaussian_fixed_theta"))
def test_asymmetric_gaussian_at_a_fixed_mode(case):
    sample, expected = one_class(case), case["parameters"]
    mode = sample.mode_at(expected["theta"], (2, 2))
    assert mode.left == pytest.approx(expected["D_l2"])
    assert mode.right == pytest.approx(expected["D_r2"])
    density = asymmetric_gaussian_at(mode, sample, LIMITS)
    check_parameters(density.parameters, {key: expected[key] for key in ("theta", "sigma_l", "sigma_r")})
    assert density.log_likelihood == pytest.approx(case["log_likelihood"], abs=1e-8)


@pytest.mark.parametrize("case", cases("asymmetric_gaussian_continuity"))
def test_asymmetric_gaussian_continuity(case):
    sample, expected = one_class(case), case["parameters"]
    density = asymmetric_gaussian_at(sample.mode_at(expected["theta"], (2, 2)), sample, LIMITS)
    check_parameters(density.parameters, expected)


@pytest.mark.parametrize("case", cases("hybrid_fixed_theta"))
def test_hybrid_at_a_fixed_mode(case):
    sample, expected = one_class(case), case["parameters"]
    mode = sample.mode_at(expected["theta"], (1, 2))
    assert mode.left == pytest.approx(expected["D1_inner"])
    assert mode.right == pytest.approx(expected["D2_outer"])
    density = hybrid_at(mode, sample, LIMITS, True)
    check_parameters(density.parameters, {key: expected[key] for key in ("theta", "beta", "sigma")})
    assert np.exp(-density.peak) == pytest.approx(expected["T_normaliser"])
    assert density.log_likelihood == pytest.approx(case["log_likelihood"], abs=1e-8)


@pytest.mark.parametrize("case", cases("alaplace_on_probabilities"))
def test_asymmetric_laplace_on_probabilities(case):
    """Evaluation only: the sample behind the parameters is not stored, so its prior is read off one query."""
    from oddsmith.calibrators._bayes import bayes_map
    from oddsmith.calibrators._families import Density, Side

    densities = []
    for side in ("positive", "negative"):
        p = case["parameters"][side]
        peak = -np.log(1 / p["beta"] + 1 / p["gamma"])
        densities.append(Density(p["theta"], peak, Side(p["beta"], 0.0), Side(p["gamma"], 0.0), p, 0.0))
    ratio = case["log_odds"][0] - bayes_map(*densities, 0.0, 1.0).log_odds(case["query"][0])
    fitted = bayes_map(*densities, float(ratio), 1.0)
    np.testing.assert_allclose(fitted.log_odds(case["query"]), case["log_odds"], rtol=1e-9)
    np.testing.assert_allclose(fitted.probability(case["query"]), case["probabilities"], atol=1e-8)


@pytest.mark.parametrize("case", cases("piecewise_logistic"))
def test_piecewise_logistic(case):
    expected = case["parameters"]
    options = {"penalty": case["options"]["lambda"], "end_epsilon": case["options"]["theta_K_epsilon"]}
    if "12 scores" in case["case"]:
        options["knots"] = expected["knots"][1:-1]
    if "hill climbing" in case["case"]:
        options["n_pieces"] = "grow"
    cal = fit(oddsmith.PiecewiseLogisticCalibrator(**options), case)
    np.testing.assert_allclose(cal.knots_, expected["knots"], atol=1e-9)
    np.testing.assert_allclose(cal.weights_, expected["w"], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(cal.slopes_, expected["slopes"], rtol=1e-6, atol=1e-6)
    assert cal.log_likelihood_ == pytest.approx(case["log_likelihood"], abs=1e-8)
    penalty = options["penalty"] * np.sum(np.diff(cal.slopes_) ** 2)
    assert penalty - cal.log_likelihood_ == pytest.approx(case["objective"], abs=1e-8)
    check_map(cal, case)
    for outside, key in (
        ("clip", "probabilities_clipped_outside"),
        ("literal", "probabilities_literal_zero_outside"),
    ):
        other = fit(oddsmith.PiecewiseLogisticCalibrator(outside=outside, **options), case)
        np.testing.assert_allclose(other.predict_proba(case["query"])[:, 1], case[key], atol=1e-8)
    if "selection" in case:
        chosen = case["selection"]
        assert cal.percentiles_ == (chosen["negative_percentile"], chosen["positive_percentile"])
    for step, (pieces, likelihood, knot) in zip(cal.trace_, case.get("trace_pieces_loglik_knot", []), strict=True):
        assert step.pieces == pieces
        assert step.log_likelihood == pytest.approx(likelihood, abs=1e-8)
        assert step.kept == (knot != "rejected")
        if isinstance(knot, float):
            assert step.knot == pytest.approx(knot, abs=1e-9)


@pytest.mark.parametrize("case", cases("isotonic"))
def test_isotonic(case):
    for between, key in (("interpolate", "probabilities_interpolated"), ("step", "probabilities_step")):
        cal = fit(oddsmith.IsotonicCalibrator(between), case)
        np.testing.assert_allclose(cal.predict_proba(case["query"])[:, 1], case[key], atol=1e-8)
    expected = case["parameters"]
    np.testing.assert_allclose(cal.predict_proba(expected["x"])[:, 1], expected["m"], atol=1e-8)
    table = oddsmith.ScoreTable.from_arrays(case["scores"], case["labels01"], case["weights"])
    np.testing.assert_array_equal(table.scores, expected["x"])
    np.testing.assert_array_equal(table.total, expected["x_weights"])


@pytest.mark.parametrize("case", cases("cosine_expansion_1d"))
def test_cosine(case):
    cal = fit(oddsmith.CosineCalibrator(), case)
    np.testing.assert_allclose(cal.coefficients_, case["parameters"]["a"], atol=1e-8)
    check_map(cal, case)
