"""Verdicts follow from measurements by rules that stand in one file."""

import numpy as np
import pytest

from oddsmith.errors import InvalidInputError
from oddsmith.metrics import Interval
from oddsmith_studies import studies
from oddsmith_studies.studies import OWN, STAND_IN, Case, Rule, judge
from oddsmith_studies.studies._claims import combine, evidence_from_dict, evidence_to_dict, over_seeds, rules


def rule(expect="below", limit=0.0, of="every"):
    return Rule("9", "toy", "A beats B.", "yes", "A less B", expect, limit, of)


def interval(low, high):
    return Interval((low + high) / 2, low, high, 0.95, "t")


@pytest.mark.parametrize(
    ("expect", "limit", "value", "outcome"),
    [
        ("below", 0, interval(-2, -1), "holds"),
        ("below", 0, interval(1, 2), "fails"),
        ("below", 0, interval(-1, 2), "undecided"),
        ("below", 0, -1.0, "holds"),
        ("below", 0, 0.0, "fails"),
        ("above", 10, interval(11, 12), "holds"),
        ("above", 10, interval(8, 9), "fails"),
        ("above", 10, interval(9, 11), "undecided"),
        ("above", 0, True, "holds"),
        ("above", 0, False, "fails"),
        ("above", 0, float("inf"), "holds"),
        ("below", 0, float("-inf"), "holds"),
        ("at most", 0, 0, "holds"),
        ("at most", 0, 1, "fails"),
        ("at most", 0, interval(-3, 0), "holds"),
        ("at most", 0, interval(-3, 1), "undecided"),
        ("within", 0.05, interval(-0.04, 0.03), "holds"),
        ("within", 0.05, interval(-0.04, 0.06), "undecided"),
        ("within", 0.05, interval(-0.2, -0.1), "fails"),
        ("within", 0.05, 0.05, "holds"),
        ("within", 0.05, 0.06, "fails"),
        ("below", 0, None, "cannot be tested"),
        ("below", 0, float("nan"), "cannot be tested"),
        ("below", 0, "undecided", "undecided"),
    ],
)
def test_a_case_is_judged_by_where_its_interval_lies(expect, limit, value, outcome):
    assert rule(expect, limit).outcome(value) == outcome


@pytest.mark.parametrize(
    ("of", "outcomes", "verdict"),
    [
        ("every", "hh", "holds"),
        ("every", "hu", "undecided"),
        ("every", "huf", "fails"),
        ("most", "hhf", "holds"),
        ("most", "hf", "fails"),
        ("most", "hu", "undecided"),
        ("most", "huff", "fails"),
        ("some", "hff", "holds"),
        ("some", "uff", "undecided"),
        ("some", "ff", "fails"),
        ("every", "-", "cannot be tested"),
        ("every", "h-", "holds"),
    ],
)
def test_cases_are_combined(of, outcomes, verdict):
    found = {"h": (0.0, 1.0), "u": (0.5, 0.5), "f": (1.0, 0.0), "-": None}
    assert combine([found[each] for each in outcomes], of) == verdict


def test_one_case_of_many_needs_a_correction_and_all_of_them_none():
    just = [(0.02, 0.98)]
    others = [(0.9, 0.1)] * 32
    assert combine(just, "some") == combine(just * 36, "every") == "holds"
    assert combine([*just, *others], "some") == "undecided"
    assert combine([(0.0005, 0.9995), *others], "some") == "holds"
    # The contrary of "every" is "some", with the same correction.
    assert combine([(0.98, 0.02), *others], "every") == "undecided"
    assert combine([(0.9995, 0.0005), *others], "every") == "fails"


def test_verdicts_are_wrong_in_one_case_of_forty_at_most():
    rng = np.random.default_rng(0)
    wrong = dict.fromkeys(("some", "most", "every"), 0)
    for _ in range(2000):
        # None, four or seven of eight cases are true: one too few for each verdict.
        for of, true in (("some", 0), ("most", 4), ("every", 7)):
            z = rng.normal(size=8) - 6.0 * (np.arange(8) < true)
            cases = [rule().p_values(interval(each - 1.959964, each + 1.959964)) for each in z]
            wrong[of] += combine(cases, of) == "holds"
    assert max(wrong.values()) / 2000 < 0.035


def test_own_data_are_judged_apart_from_stand_ins():
    cases = [Case("a", -1.0, OWN), Case("b", 1.0, STAND_IN), Case("c", interval(-1, 1), STAND_IN)]
    own, others = judge("toy", {"9": cases}, {"9": rule()})
    assert (own.data, own.verdict, own.ours) == (OWN, "holds", "a -1")
    assert (others.data, others.verdict) == (STAND_IN, "fails")
    assert own.reason == "A less B must lie below 0 in every case."


def test_what_a_run_has_not_measured_was_not_run_and_what_has_no_data_cannot_be_tested():
    (missing,) = judge("toy", {}, {"9": rule()})
    assert (missing.verdict, missing.ours) == ("not run", "the kept run has not measured it")
    (absent,) = judge("toy", {"9": []}, {"9": rule()})
    assert (absent.verdict, absent.ours) == ("undecided", "what it is about does not occur")
    (private,) = judge("toy", {"9": [Case("MSN Web", None)]}, {"9": rule()})
    assert (private.verdict, private.ours) == ("cannot be tested", "data not available")


def test_many_cases_are_counted_and_exceptions_named():
    cases = [Case(f"case {i}", -1.0 if i else 1.0) for i in range(6)]
    (claim,) = judge("toy", {"9": cases}, {"9": rule()})
    assert claim.ours == "holds in 5, fails in 1 of 6 cases. Exceptions: case 0 +1."
    (claim,) = judge("toy", {"9": cases}, {"9": rule("above", of="some")})
    assert claim.ours == "holds in 1, fails in 5 of 6 cases. Holds for: case 0 +1."
    (claim,) = judge("toy", {"9": cases[1:]}, {"9": rule()})
    assert claim.ours == "holds in all 5 cases, at -1."
    unsure = [cases[0], *(Case(f"case {i}", interval(-1, 1)) for i in range(1, 4))]
    (claim,) = judge("toy", {"9": unsure}, {"9": rule()})
    assert claim.ours.startswith("fails in 1, undecided in 3 of 4 cases. Among them: case 0 +1; case 1 +0 [-1, +1];")


def test_a_claim_without_a_rule_is_refused():
    with pytest.raises(InvalidInputError, match=r"verdicts\.toml"):
        judge("toy", {"10": []}, {"9": rule()})
    with pytest.raises(InvalidInputError, match="expect of claim 9"):
        rule("near")


def test_evidence_survives_json():
    evidence = {"9": [Case("a", interval(-1, 1)), Case("b", True, STAND_IN), Case("c", None), Case("d", "holds")]}
    assert evidence_from_dict(evidence_to_dict(evidence)) == {
        "9": [
            each._replace(value=each.value and Interval(0.0, -1.0, 1.0, 0.95, "")) if i == 0 else each
            for i, each in enumerate(evidence["9"])
        ]
    }


def test_runs_with_several_seeds_are_judged_together():
    runs = [
        {"1": [Case("a", interval(each - 1, each + 1)), Case("b", float(each))], "2": [Case("c", each > 0)]}
        for each in (1.0, 2.0, 3.0)
    ]
    found = over_seeds(runs)
    together, number = (case.value for case in found["1"])
    # The variance over rows, and that of the mean of three runs.
    assert (together.high - together.value) / 1.959964 == pytest.approx(
        np.hypot(1 / 1.959964, 1 / np.sqrt(3)), rel=1e-6
    )
    assert (number.value, number.high - number.value) == (2.0, pytest.approx(4.302653 / np.sqrt(3)))
    assert found["2"] == [Case("c", True)]
    assert over_seeds([{"1": [Case("v", each)]} for each in ("holds", "fails")])["1"] == [Case("v", "undecided")]
    assert over_seeds([{"1": [Case("n", 0.0)]}] * 2)["1"] == [Case("n", 0.0)]


def test_every_rule_belongs_to_a_study_and_reads_as_a_sentence():
    book = rules()
    assert {each.study for each in book.values()} == set(studies.names())
    for each in book.values():
        assert each.text.endswith("."), each.id
        assert each.sentence.endswith("."), each.id
        assert each.published, each.id
        assert bool(each.quote) == (each.kind == "statement"), each.id
        format(0.5 if each.format != "d" else 1, each.format)
