"""Which column is the score: named, guessed, or asked for."""

import pytest

from oddsmith.errors import InvalidInputError
from oddsmith.files import choose_columns, open_scores
from optional import needs


@pytest.fixture
def file_with(tmp_path):
    opened = []

    def make(*columns):
        (tmp_path / "a.csv").write_text(",".join(columns) + "\n" + ",".join("1" for _ in columns) + "\n")
        opened.append(open_scores(tmp_path / "a.csv"))
        return opened[-1]

    yield make
    for file in opened:
        file.close()


@pytest.mark.parametrize("score", ["score", "prob", "p", "Probability", "decision", "Log-Odds", "decision function"])
@pytest.mark.parametrize("label", ["label", "y", "TARGET", "class", "outcome"])
def test_guesses(file_with, score, label):
    roles = choose_columns(file_with("id", label, score))
    assert (roles.score, roles.label, roles.weight, roles.by) == (score, label, None, ())
    assert roles.message == f"Using column {score!r} as the score and column {label!r} as the label."
    assert roles.names == [score, label]


def test_what_is_named_is_not_guessed(file_with):
    roles = choose_columns(file_with("score", "p", "y", "label", "w", "day"), "p", "y", "w", "day")
    assert roles.names == ["p", "y", "w", "day"]
    assert roles.message == ""


def test_a_column_that_is_named_is_taken(file_with):
    roles = choose_columns(file_with("p", "y", "score", "class"), weight="p", by="class")
    assert (roles.score, roles.label) == ("score", "y")


def test_probabilities_are_looked_for_by_their_names(file_with):
    file = file_with("score", "label", "probability")
    assert choose_columns(file, kind="probability").score == "probability"
    with pytest.raises(InvalidInputError, match=r"no probability column recognized.*scores= \(--probability\)"):
        choose_columns(file_with("score", "label"), kind="probability")
    with pytest.raises(InvalidInputError, match=r"several: 'score', 'probability'.*--score"):
        choose_columns(file)


def test_a_label_may_be_absent_where_none_is_needed(file_with):
    assert choose_columns(file_with("score", "y"), needs_label=False).names == ["score"]


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (("score", "y", "label"), {}, "several: 'y', 'label'.*--label"),
        (("score", "b"), {}, "no label column recognized.*columns 'score', 'b'.*--label"),
        (("a", "label"), {}, "no score column recognized.*columns 'a', 'label'.*--score"),
        (("score", "label"), {"scores": "scroe"}, "did you mean 'score'"),
        (("Score", "label"), {"scores": "score"}, "did you mean 'Score'"),
        (("score", "label"), {"weight": "zzzz"}, "choose one of 'score', 'label'"),
        (("a", "a", "label"), {"scores": "a"}, "'a', 2 times"),
        (("score", "label"), {"scores": "label", "label": "label"}, "different columns"),
    ],
)
def test_errors_say_what_to_do(file_with, columns, options, message):
    with pytest.raises(InvalidInputError, match=message):
        choose_columns(file_with(*columns), **options)


def test_columns_of_parquet_that_differ_by_case_alone_are_refused(tmp_path):
    pa, parquet = needs("pyarrow"), needs("pyarrow.parquet")
    parquet.write_table(pa.table({"score": [0.1], "SCORE": [0.9], "label": [1]}), tmp_path / "rows.parquet")
    with pytest.raises(
        InvalidInputError, match="names of columns must differ by more than case; got 'score' and 'SCORE'"
    ):
        open_scores(tmp_path / "rows.parquet")
