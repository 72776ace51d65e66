"""One clear error, or the right answer, for everything that users pass; the same words from every calibrator."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from catalogue import CLASSES
from oddsmith import PlattCalibrator, ScoreTable
from oddsmith.errors import InvalidInputError, ReversedScoreWarning, SeparableWarning
from samples import ours_allowed

every = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)

S = [-2.0, -1.0, 0.5, 0.0, 1.5, 3.0]
Y = [0, 0, 0, 1, 1, 1]

REFUSED = {
    "NaN score": (
        ([*S[:5], np.nan], Y),
        r"scores must be finite; got 1 NaN and 0 infinity values, first at row 5",
    ),
    "NaN score of weight 0": (([*S[:5], np.nan], Y, [1, 1, 1, 1, 1, 0]), "scores must be finite"),
    "infinite score": (
        ([np.inf, *S[1:]], Y),
        r"got 0 NaN and 1 infinity values, first at row 0: scores\[0\]=inf",
    ),
    "empty": (([], []), "scores must contain at least one value"),
    "two columns": (
        (np.ones((6, 2)), Y),
        r"scores must be one column; got shape \(6, 2\). Hint: pass scores\[:, 1\]",
    ),
    "three columns": ((np.ones((6, 3)), Y), r"scores must have shape \(n,\) or \(n, 1\)"),
    "three dimensions": ((np.ones((6, 1, 1)), Y), r"scores must have shape \(n,\) or \(n, 1\)"),
    "a single number": ((1.0, Y), r"scores must have shape \(n,\) or \(n, 1\)"),
    "strings": ((["a"] * 6, Y), "scores must be numeric"),
    "numbers as strings": ((["1"] * 6, Y), "scores must be numeric"),
    "objects": (([object()] * 6, Y), "scores must be numeric"),
    "complex": ((np.array(S) + 1j, Y), "scores must be real"),
    "more labels than scores": ((S, [*Y, 1]), "y must be as long as the scores; got 7 labels for 6 scores"),
    "three labels": (
        (S, [0, 1, 2, 0, 1, 2]),
        r"y must contain two classes; got 3 classes: 0 \(2 rows\), 1 \(2 rows\), 2",
    ),
    "-1, 0 and 1": (
        (S, [-1, 0, 1, 0, 1, 1]),
        r"y must contain two classes; got 3 classes: -1 \(1 row\), 0 \(2 rows\), 1",
    ),
    "continuous labels": ((S, [0.1, 0.2, 0.3, 0.5, 0.7, 0.9]), "y must contain two classes"),
    "unknown coding": ((S, [3, 5, 3, 5, 3, 5]), r"got classes 3 \(3 rows\), 5 \(3 rows\). Hint: pass pos_label=5"),
    "strings without pos_label": (
        (S, list("nnyyny")),
        r"got classes 'n' \(3 rows\), 'y' \(3 rows\). Hint: pass pos_label='y'",
    ),
    "one string label": ((S, list("yyyyyy")), r"or pos_label must name the positive one; got classes 'y' \(6 rows\)"),
    "NaN label": ((S, [0, 1, np.nan, 1, 0, 1]), "y must not contain NaN"),
    "None label": ((S, [0, 1, None, 1, 0, 1]), "y must not contain missing values; got 1 missing"),
    "mixed labels": ((S, np.array([0, "a", 1, 1, 0, 1], dtype=object)), "y must contain labels of one kind"),
    "labels of two columns": ((S, np.ones((6, 2))), r"y must have shape \(n,\)"),
    "no labels": ((S, None), "y must contain the labels"),
    "pandas booleans with NA": (
        (S, pd.Series([False, False, None, True, True, True], dtype="boolean")),
        "y must not contain missing values; got 1 missing or NaN labels",
    ),
    "pandas integers with NA": ((S, pd.array([0, 0, None, 1, 1, 1], dtype="Int64")), "y must not contain"),
    "polars booleans with null": ((S, pl.Series([False, False, None, True, True, True])), "y must not contain missing"),
    "ragged labels": ((S, [[0], [0, 1], [0], [1], [1], [1]]), "y must contain one value per row; got rows of several"),
    "lists as labels": ((S, np.array([[0], [0, 1], None, [1], [1], [1]], dtype=object)), "one value per row"),
    "masked labels": ((S, np.ma.array(Y, mask=[0, 0, 1, 0, 0, 0])), "y must not contain missing values; got 1 masked"),
    "masked scores": (
        (np.ma.array(S, mask=[0, 0, 1, 0, 0, 0]), Y),
        "scores must not contain missing values; got 1 mas",
    ),
    "ragged scores": (([[1.0], [1.0, 2.0], *[[1.0]] * 4], Y), "scores must contain one value per row"),
    "negative weight": ((S, Y, [1, 1, 1, 1, 1, -1]), r"sample_weight must be ≥ 0; got sample_weight\[5\]=-1"),
    "all weights 0": ((S, Y, [0] * 6), "sample_weight must be positive somewhere; got only zeros"),
    "NaN weight": ((S, Y, [1, 1, 1, 1, 1, np.nan]), "sample_weight must be finite"),
    "infinite weight": ((S, Y, [1, 1, 1, 1, 1, np.inf]), "sample_weight must be finite"),
    "weights too short": (
        (S, Y, [1, 1]),
        r"sample_weight must have shape \(n,\); got shape \(2,\) for 6 scores",
    ),
}


@every
@pytest.mark.parametrize("what", REFUSED)
def test_refused_by_every_calibrator_in_the_same_words(cls, what):
    arguments, words = REFUSED[what]
    with pytest.raises(InvalidInputError, match=words) as error:
        cls().fit(*arguments)
    assert " must " in str(error.value)
    assert "; got " in str(error.value)
    assert ". Hint: " in str(error.value)


@pytest.mark.parametrize("what", REFUSED)
def test_refused_by_the_table_in_the_same_words(what):
    arguments, words = REFUSED[what]
    with pytest.raises(InvalidInputError, match=words):
        ScoreTable.from_arrays(*arguments)


@every
@pytest.mark.parametrize("bad", [[np.nan], [np.inf, np.nan], ["a"], np.ones((2, 2)), []], ids=str)
def test_refused_at_prediction(cls, bad):
    with ours_allowed():
        cal = cls().fit(S, Y)
    with pytest.raises(InvalidInputError, match="scores must"):
        cal.predict_proba(bad)


ACCEPTED = {
    "lists": (S, Y),
    "a column": (np.array(S)[:, None], Y),
    "float32 scores": (np.array(S, np.float32), Y),
    "integer scores": (np.array([-4, -2, 1, 0, 3, 6], np.int8) / 2, Y),
    "scores as objects": (np.array(S, dtype=object), Y),
    "-1 and +1": (S, [-1, -1, -1, 1, 1, 1]),
    "bool": (S, np.array(Y, bool)),
    "labels as objects": (S, np.array(Y, dtype=object)),
    "float labels as objects": (S, np.array([0.0, 0, 0, 1, 1.0, 1], dtype=object)),
    "-1 and +1 as objects": (S, np.array([-1, -1, -1, 1, 1, 1], dtype=object)),
    "bool as objects": (S, np.array(np.array(Y, bool).tolist(), dtype=object)),
    "pandas booleans": (S, pd.Series(Y, dtype="boolean")),
    "nothing masked": (S, np.ma.array(Y)),
    "float labels": (S, np.array(Y, float)),
    "pandas": (pd.Series(S, index=list("abcdef")), pd.Series(Y)),
    "pandas frame": (pd.DataFrame({"s": S}), pd.Series(Y, dtype="Int64")),
    "polars": (pl.Series(S), pl.Series(Y)),
    "polars frame": (pl.DataFrame({"s": S}), pl.Series(Y)),
    "weights of one": (S, Y, np.ones(6)),
    "one weight for all": (S, Y, 1),
    "Fortran slices": (np.array([S, S], order="F")[0], np.array([Y, Y], order="F")[0]),
    "reversed views": (np.array(S[::-1])[::-1], np.array(Y[::-1])[::-1]),
}


@every
@pytest.mark.parametrize("what", ACCEPTED)
def test_accepted_with_the_same_answer(cls, what):
    with ours_allowed():
        expected = cls().fit(S, Y).predict_proba([-1.0, 0.3, 2.0])
        found = cls().fit(*ACCEPTED[what]).predict_proba(np.array([-1.0, 0.3, 2.0]))
    np.testing.assert_allclose(found, expected, atol=1e-9)


@every
def test_any_two_labels_with_pos_label(cls):
    with ours_allowed():
        expected = cls().fit(S, Y).predict_proba(S)
        cal = cls(pos_label="yes").fit(S, ["no", "no", "no", "yes", "yes", "yes"])
    np.testing.assert_allclose(cal.predict_proba(S), expected, atol=1e-12)
    assert cal.classes_.tolist() == ["no", "yes"]
    assert set(cal.predict(S)) <= {"no", "yes"}
    with ours_allowed():
        flipped = cls(pos_label=0).fit(S, Y)
    assert flipped.classes_.tolist() == [1, 0]
    with pytest.raises(InvalidInputError, match="pos_label must be one of the labels; got pos_label='maybe'"):
        cls(pos_label="maybe").fit(S, ["no", "no", "no", "yes", "yes", "yes"])


@pytest.mark.parametrize(
    ("labels", "pos_label", "classes"),
    [
        ([1, 1], None, [0, 1]),
        ([0, 0], None, [0, 1]),
        ([-1, -1], None, [-1, 1]),
        ([True, True], None, [False, True]),
        (["yes", "yes"], "yes", ["not yes", "yes"]),
        (["no", "no"], "yes", ["no", "yes"]),
        ([7, 7], 7, [0, 7]),
        ([0, 0], 0, [1, 0]),
    ],
)
def test_classes_of_a_single_class(labels, pos_label, classes):
    with ours_allowed():
        cal = CLASSES[0](pos_label=pos_label).fit([1.0, 2.0], labels)
    assert cal.classes_.tolist() == classes


@every
def test_a_score_the_wrong_way_round_is_noticed(cls):
    rng = np.random.default_rng(1)
    scores = rng.normal(size=400)
    y = (rng.random(400) < 1 / (1 + np.exp(2 * scores))).astype(int)
    if not cls._learns:
        cls().fit(scores, y)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cal = cls().fit(scores, y)
    assert any(issubclass(w.category, ReversedScoreWarning) for w in caught)
    assert "is the score the wrong way round?" in " ".join(cal.fit_warnings_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert "wrong way round" not in " ".join(cls().fit(-scores, y).fit_warnings_)


@pytest.mark.parametrize("n", [2_000, 50_000], ids=["short", "long"])
def test_weights_may_turn_the_direction_of_the_scores(n):
    """Most rows rise with the score, most of the weight falls."""
    rng = np.random.default_rng(5)
    y = rng.random(n) < 0.4
    few = rng.random(n) < 0.1
    scores = rng.standard_normal(n) + np.where(few, -2.0, 2.0) * y
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PlattCalibrator().fit(scores, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        PlattCalibrator().fit(scores, y, np.where(few, 100.0, 1.0))
    assert any(issubclass(w.category, ReversedScoreWarning) for w in caught)


@every
def test_separable_data_are_noticed(cls):
    if not cls._learns:
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cls().fit([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0], [0, 0, 0, 1, 1, 1])
    assert any(issubclass(w.category, SeparableWarning) for w in caught)
    assert all(w.filename == __file__ for w in caught)  # the user's line, not ours


@every
def test_parameters_are_checked(cls):
    for options, words in (
        ({"input": "margin"}, "input must be one of"),
        ({"clip": 0.7}, "clip must lie between 0 and ½"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            cls(**options).fit(S, Y)
    with pytest.raises(InvalidInputError, match=r"must lie in \[0, 1\]"):
        cls(input="probability").fit(S, Y)
    with pytest.raises(InvalidInputError, match=r"2 values of exactly 0 or 1\. Hint: pass clip=1e-6"):
        cls(input="probability").fit([0.0, 0.2, 0.6, 0.4, 0.8, 1.0], Y)
    with ours_allowed():
        cal = cls(input="probability", clip=1e-6).fit([0.0, 0.2, 0.6, 0.4, 0.8, 1.0], Y)
    assert not np.isnan(cal.predict_proba([0.0, 1.0])).any()


def parameters(cls):
    return set(cls().get_params()) - {"pos_label", "input", "clip", "knots", "prior", "positive", "negative"}


@pytest.mark.parametrize(("cls", "key"), [(cls, key) for cls in CLASSES for key in sorted(parameters(cls))])
@pytest.mark.parametrize("value", [-1, "nonsense", np.nan, [1]], ids=str)
def test_nonsense_options_are_refused(cls, key, value):
    with pytest.raises(InvalidInputError, match=f"{key} must"):
        cls(**{key: value}).fit(S, Y)


@every
def test_an_empty_table_is_refused(cls):
    table = ScoreTable.from_arrays(S, Y)
    with pytest.raises(InvalidInputError, match="a table must contain rows to be fitted"):
        cls().fit_table(table.minus(table))


@every
@pytest.mark.parametrize("heavy", range(6))
def test_a_weight_that_drowns_all_others_leaves_probabilities(cls, heavy):
    weight = np.ones(6, np.int64)
    weight[heavy] = 9 * 10**18
    with ours_allowed():
        prob = cls().fit(S, Y, weight).predict_proba(S)
    assert np.all((prob >= 0) & (prob <= 1))
