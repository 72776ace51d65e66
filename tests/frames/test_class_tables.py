"""One-vs-rest tables of all classes are those of the rows, in every engine."""

import numpy as np
import pytest

from oddsmith import ScoreTable
from oddsmith.errors import InvalidInputError
from oddsmith.frames import class_tables
from optional import needs

pa = needs("pyarrow")

pytestmark = [
    pytest.mark.xdist_group("engines"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:pyspark"),
]

RNG = np.random.default_rng(8)
N, K = 400, 4
SCORES = np.round(RNG.normal(size=(N, K)), 1)
TRUTH = RNG.integers(K, size=N)
COUNTS = RNG.integers(0, 4, size=N)
NAMES = [f"s {i}" for i in range(K)]
LABELS = ["a", "it's \\ b", 'c"', "never"]
TRUTH[TRUTH == K - 1] = 0


@pytest.fixture
def held(held, engine, request):
    """Return a function that puts an Arrow table in an engine, of those that take several classes."""
    if engine == "ibis-postgres" and request.function is not test_tables_of_other_backends_are_refused:
        pytest.skip("Ibis takes several classes on DuckDB only, which is tested")
    return held


def test_tables_of_other_backends_are_refused(held, engine):
    if engine == "ibis-postgres":
        with pytest.raises(InvalidInputError, match="need an Ibis table of DuckDB; got a table of postgres"):
            class_tables(held(table()), NAMES, "y", LABELS)


def table(scores=SCORES, labels=None, **more):
    named = [LABELS[place] for place in TRUTH] if labels is None else labels
    return pa.table({**{name: scores[:, i] for i, name in enumerate(NAMES)}, "y": named, **more})


def test_exact_tables(held):
    found = class_tables(held(table()), NAMES, "y", LABELS, resolution=None)
    assert found == [ScoreTable.from_arrays(SCORES[:, i], TRUTH == i) for i in range(K)]


def test_few_rows_need_no_cells(held):
    assert class_tables(held(table()), NAMES, "y", LABELS) == class_tables(
        held(table()), NAMES, "y", LABELS, resolution=None
    )


def test_counts(held):
    """Rows of count 0 are absent."""
    found = class_tables(held(table(n=COUNTS)), NAMES, "y", LABELS, weight="n", resolution=None)
    assert found == [ScoreTable.from_arrays(SCORES[:, i], TRUTH == i, COUNTS) for i in range(K)]


def test_weights(held):
    weight = (1 + COUNTS) / 7
    found = class_tables(held(table(w=weight)), NAMES, "y", LABELS, weight="w", resolution=None)
    for i, one in enumerate(found):
        expected = ScoreTable.from_arrays(SCORES[:, i], TRUTH == i, weight)
        np.testing.assert_array_equal(one.scores, expected.scores)
        np.testing.assert_allclose(one.pos, expected.pos)
        np.testing.assert_allclose(one.neg, expected.neg)
        assert one.kind == "weight"


@pytest.mark.parametrize("labels", [[3, 1, 0, 7], [True, False]])
def test_labels_of_other_kinds(held, labels):
    k = len(labels)
    truth = TRUTH % k
    named = [labels[place] for place in truth]
    found = class_tables(held(table(labels=named)), NAMES[:k], "y", labels, resolution=None)
    assert found == [ScoreTable.from_arrays(SCORES[:, i], truth == i) for i in range(k)]


def test_cells_are_those_of_each_class_alone(duck):
    """One width for all classes: each table is what its own columns give at that width."""
    rows = duck.sql(
        "SELECT sin(i) * 5 AS p, cos(i * i) AS q, sin(i * i * 3) * ln(i + 2) AS r, hash(i) % 3 AS y"
        " FROM range(600000) t(i)"
    )
    found = class_tables(rows, ["p", "q", "r"], "y", [0, 1, 2])
    (width,) = {one.resolution for one in found}
    for place, name in enumerate("pqr"):
        alone = rows.project(f"{name}, y = {place} AS hit")
        own = ScoreTable.from_frame(alone, name, "hit", resolution=width)
        for column in ("pos", "neg"):
            np.testing.assert_array_equal(getattr(found[place], column), getattr(own, column))
        np.testing.assert_allclose(found[place].scores, own.scores, rtol=1e-12)  # sums depend on the order of rows
        assert found[place].rows == 600_000
        assert len(found[place]) > 1000


def test_missing_values_are_refused_and_counted_once(held):
    scores = SCORES.copy()
    scores[3, 1] = np.nan
    labels = [None if i == 5 else LABELS[place] for i, place in enumerate(TRUTH)]
    frame = held(table(scores, labels, w=[None if i in (5, 7) else 1.0 for i in range(N)]))
    message = "must be usable; got score is missing: 1, label is missing: 1, weight is missing: 2"
    for resolution in (None, "auto"):
        with pytest.raises(InvalidInputError, match=message):
            class_tables(frame, NAMES, "y", LABELS, "w", resolution)


def test_frames_without_a_usable_row_say_what_is_missing(held):
    frame = held(table(np.full((N, K), np.nan)))
    with pytest.raises(
        InvalidInputError, match=f"all rows of the frame must be usable; got score is missing: {N * K:,}"
    ):
        class_tables(frame, NAMES, "y", LABELS)


def test_labels_of_no_class_are_refused(held):
    lacking = int((TRUTH == 1).sum())
    with pytest.raises(
        InvalidInputError, match=f"'y' must contain labels of the classes; got {lacking} rows with other"
    ):
        class_tables(held(table()), NAMES, "y", ["a", "b", 'c"', "never"])


@pytest.mark.parametrize(
    ("scores", "labels", "message"),
    [
        (NAMES, LABELS[:3], "4 columns and 3 labels"),
        (NAMES[:1], LABELS[:1], "1 columns and 1 labels"),
        (NAMES[:2], ["1", 1], "labels must differ"),
        (["nowhere", *NAMES[1:]], LABELS, "frame must have the columns that are named"),
        (["y", *NAMES[1:]], LABELS, "column 'y' must be numeric"),
    ],
)
def test_what_does_not_fit_is_refused(held, scores, labels, message):
    with pytest.raises(InvalidInputError, match=message):
        class_tables(held(table()), scores, "y", labels)


def test_the_rows_are_asked_once(duck):
    """Of exact tables one query; of cells one more for the range."""
    asked = []
    frame = duck.from_arrow(table())
    import oddsmith.frames.engines.duckdb as module

    original = module.DuckDB.fetch

    def fetch(self, planned):
        asked.append(planned)
        return original(self, planned)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module.DuckDB, "fetch", fetch)
        class_tables(frame, NAMES, "y", LABELS, resolution=None)
        assert len(asked) == 1
        class_tables(frame, NAMES, "y", LABELS, resolution=2.0**-4)
        assert len(asked) == 2


def test_columns_of_arrow_in_pandas_with_both_nan_and_null():
    pandas, pa = needs("pandas"), needs("pyarrow")
    scores = pandas.Series(pandas.arrays.ArrowExtensionArray(pa.array([0.1, None, float("nan"), 0.4])))
    frame = pandas.DataFrame({"a": scores, "b": [0.9, 0.8, 0.7, 0.6], "y": ["a", "b", "b", "a"]})
    with pytest.raises(InvalidInputError, match="all rows of the frame must be usable; got score is missing: 2"):
        class_tables(frame, ["a", "b"], "y", ["a", "b"])
    tables = class_tables(frame[[True, False, False, True]], ["a", "b"], "y", ["a", "b"])
    assert [table.pos.tolist() for table in tables] == [[1, 1], [0, 0]]
