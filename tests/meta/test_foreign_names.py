"""Names that users of other libraries try: they work where the meaning is the same, and lead to ours elsewhere."""

import re
from functools import reduce
from importlib import import_module

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, d2_log_loss_score

import oddsmith
from oddsmith import metrics
from oddsmith._foreign_names import INSTEAD

ROOMS = (
    "oddsmith",
    "oddsmith.metrics",
    "oddsmith.plots",
    "oddsmith.report",
    "oddsmith.calibrators",
    "oddsmith.classify",
)


@pytest.mark.parametrize("name", INSTEAD)
@pytest.mark.parametrize("room", ROOMS)
def test_a_foreign_name_leads_to_ours(room, name):
    if hasattr_without_hint(room, name):
        return
    with pytest.raises(ImportError, match=re.escape(f"{room} has no {name!r}; use {INSTEAD[name]}")):
        exec(f"from {room} import {name}")


def hasattr_without_hint(room, name):
    return name in vars(import_module(room))


@pytest.mark.parametrize("name", INSTEAD)
def test_what_is_named_instead_exists(name):
    for named in re.findall(r"\boddsmith(?:\.\w+)+", INSTEAD[name]):
        assert callable(reduce(getattr, named.split(".")[1:], oddsmith))


@pytest.mark.parametrize(
    ("room", "name", "home"),
    [
        ("oddsmith", "log_loss", "oddsmith.metrics"),
        ("oddsmith", "ReliabilityDisplay", "oddsmith.plots"),
        ("oddsmith.metrics", "PlattCalibrator", "oddsmith"),
        ("oddsmith.plots", "compare_methods", "oddsmith.report"),
        ("oddsmith.calibrators", "CalibratedClassifier", "oddsmith"),
        ("oddsmith", "interval", "oddsmith.metrics"),
        ("oddsmith", "verdict", "oddsmith.metrics"),
        ("oddsmith", "band", "oddsmith.bands"),
        ("oddsmith.metrics", "threshold", "oddsmith.cutoffs"),
        ("oddsmith", "Model", "oddsmith.model"),
        ("oddsmith", "PooledCalibrator", "oddsmith.pooling"),
        ("oddsmith.metrics", "recalibrate", "oddsmith.monitor"),
    ],
)
def test_a_name_of_another_module_leads_there(room, name, home):
    with pytest.raises(ImportError, match=re.escape(f"{room} has no {name!r}; use {home}.{name}")):
        exec(f"from {room} import {name}")


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("NLL", "oddsmith.metrics.log_loss"),
        ("LogLoss", "oddsmith.metrics.log_loss"),
        ("CORPDisplay", "oddsmith.plots.CorpDisplay"),
        ("beta_calibration", "oddsmith.BetaCalibrator"),
        ("VennAbersCV", "oddsmith.VennAbersCalibrator"),
        ("DirichletCalibrator", "oddsmith.DirichletScaling"),
        ("ENIR", "oddsmith.ENIRCalibrator"),
    ],
)
def test_case_underscores_and_the_word_for_a_method_do_not_matter(name, ours):
    with pytest.raises(AttributeError, match=re.escape(f"oddsmith has no {name!r}; use {ours}")):
        getattr(oddsmith, name)


@pytest.mark.parametrize("room", ROOMS)
def test_a_name_that_is_looked_up_by_default_is_absent(room):
    assert getattr(import_module(room), "nll", None) is None
    assert not hasattr(import_module(room), "expected_calibration_error")


def test_the_share_of_explained_log_loss_is_that_of_scikit_learn():
    y, p = [0, 1, 1, 0, 1], [0.1, 0.9, 0.4, 0.3, 0.8]
    assert 1 - metrics.normalized_entropy(y, p) == pytest.approx(d2_log_loss_score(y, p))


def test_submodules_are_found_under_names_of_functions():
    from oddsmith.report import writing

    assert writing.write_report is oddsmith.write_report


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("name", ["frobnicate", "cv", "_calibrator"])
def test_any_other_name_is_an_attribute_error(room, name):
    with pytest.raises(AttributeError, match=f"^module {room!r} has no attribute {name!r}$"):
        getattr(import_module(room), name)


@pytest.mark.parametrize("weights", [None, [1, 2, 3, 1, 5, 1]])
def test_the_brier_score_is_that_of_scikit_learn(weights):
    y, p = [0, 1, 1, 0, 1, 0], [0.1, 0.9, 0.4, 0.6, 0.8, 0.0]
    said = np.array(["no", "yes"])[y]
    assert metrics.brier_score_loss(y, p, sample_weight=weights) == pytest.approx(
        brier_score_loss(y, p, sample_weight=weights)
    )
    assert metrics.brier_score_loss(said, p, pos_label="yes") == pytest.approx(
        brier_score_loss(said, p, pos_label="yes")
    )
    classes, P = ["a", "b", "c"] * 2, np.random.default_rng(0).dirichlet(np.ones(3), 6)
    assert metrics.brier_score_loss(classes, P, sample_weight=weights) == pytest.approx(
        brier_score_loss(classes, P, sample_weight=weights)
    )
