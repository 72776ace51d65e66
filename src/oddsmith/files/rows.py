"""Read rows of several classes from a file; of a large one, a random sample."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oddsmith import _check
from oddsmith._types import Label
from oddsmith.data import LEAST, Meaning, ScoreRows, ScoreTable
from oddsmith.files._engine import Engine, Progress, translate_errors
from oddsmith.files._labels import class_values
from oddsmith.files._staging import Survey, stage, survey
from oddsmith.files.bad_rows import RowProblem, problems_of, refuse_bad_rows
from oddsmith.files.columns import Columns, list_columns
from oddsmith.files.source import ScoreFile
from oddsmith.frames import BadRowPolicy, BadRows, class_tables, sum_of, text_literal
from oddsmith.maps import rows_by_segment

__all__ = ["MOST_VALUES", "RowMeaning", "ScoreRowData", "read_rows"]

RowMeaning = Literal["auto", "logits", "probabilities"]

#: Scores that are held in memory unless the caller says otherwise; of more, a sample is taken.
MOST_VALUES = 20_000_000

#: So many labels are refused.
_MAX_LABELS = 100_000
_MANY = "label must be a column of classes", f"{_MAX_LABELS} values or more", "check which one it is"

#: Sums of probabilities that were rounded when they were written miss 1 by less; such rows are divided by their sum.
ROUNDED = 0.02

#: Of sums of exponentials, whose logarithm is taken.
_LEAST = 1e-300

#: Sums that miss 1 by less count as 1.
EXACT = 1e-5

#: How much is done when text is taken apart, when all rows were looked at, and when there are tables of them.
_STAGED, _SURVEYED, _TABLED = 0.5, 0.7, 0.9

#: Log-odds against the rest are written out, class by class: the query grows with the square of the classes.
_MOST_TABLES = 50

_NO_COLUMN = "label has no score column"


@dataclass(frozen=True)
class ScoreRowData:
    """What was read.

    Parameters
    ----------
    rows : ScoreRows
        All usable rows, or a sample of them.
    total : int
        How many usable rows there are.
    unseen : tuple
        Classes that no row has.
    dropped : BadRows or None
        What was left out.
    largest_gap : float
        How far the sum of a row of probabilities was from 1, at most, before it was divided by it.
    tables : tuple of ScoreTable or None
        Of all rows, each class against the rest: if requested and the rows are a sample.
    groups : ndarray of str, shape (n,), or None
        The name of the group of each row.
    segments : dict
        The rows of each segment, if there are any, by its name, or of several columns by a tuple of names.

    See Also
    --------
    read_rows : Returns it.
    """

    rows: ScoreRows
    total: int
    unseen: tuple[Label, ...]
    dropped: BadRows | None
    largest_gap: float
    tables: tuple[ScoreTable, ...] | None = None
    groups: NDArray[np.str_] | None = None
    segments: dict[Any, ScoreRows] = field(default_factory=dict)

    @property
    def sampled(self) -> bool:
        """Whether the rows are a sample."""
        return self.rows.n_rows < self.total


def read_rows(
    file: ScoreFile,
    columns: Columns,
    *,
    input: RowMeaning = "auto",
    bad_rows: BadRowPolicy = "refuse",
    sample: int | None = None,
    random_state: int = 0,
    tables: bool = False,
    progress: Progress | None = None,
) -> ScoreRowData:
    r"""Read logits or probabilities of several classes, and the true class of each row.

    Parameters
    ----------
    file : ScoreFile
    columns : Columns
        From `choose_columns`.
    input : {"auto", "logits", "probabilities"}, default "auto"
        What the columns contain. "auto" reads rows that are ≥ 0 and sum to 1 as probabilities and numbers outside [0,
        1] for logits; numbers within it that do not sum to 1 are refused.
    bad_rows : {"refuse", "skip"}, default "refuse"
        What to do when a score, label, weight or segment is missing, a score or weight is not a finite number,
        probabilities do not sum to 1, or a label belongs to no column.
    sample : int, optional
        How many rows to read at most, drawn at random; by default as many as make 20,000,000 scores.
    random_state : int, default 0
        Seed of that sample.
    tables : bool, default False
        Whether all rows are read into one score table per class where they are too many for memory: of the log-odds
        of each class against the rest. At most 50 classes.
    progress : callable, optional
        Called with the share that is done, from 0 to 1.

    Returns
    -------
    ScoreRowData

    See Also
    --------
    read_table : For two classes.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from oddsmith.files import choose_columns, open_scores
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.csv"
    >>> _ = path.write_text("p_cat,p_dog,p_cow,label\n0.1,0.7,0.2,dog\n0.5,0.2,0.3,cat\n")
    >>> with open_scores(path) as file:
    ...     data = read_rows(file, choose_columns(file, ["p_*"]))
    >>> data.rows, data.rows.truth.tolist(), data.unseen
    (ScoreRows(rows=2, classes=3, meaning=probability), [1, 0], ('cow',))
    """
    if columns.label is None:
        _check.fail("there must be a label", "no column", "pass label= (--label)")
    _check.one_of(input, "input", ("auto", "logits", "probabilities"))
    engine, problems, k = file.engine, problems_of(file, columns), len(columns.scores)
    kept = [f"TRY_CAST(f{i} AS DOUBLE) AS s{i}" for i in range(k)] + [f"CAST(f{k} AS VARCHAR) AS label"]
    if columns.groups is not None:
        kept.append(f"CAST(f{columns.names.index(columns.groups)} AS VARCHAR) AS group_name")
    kept += [f"{columns.key(name)} AS k{i}" for i, name in enumerate(columns.by)]
    with translate_errors(file.name):
        rows = engine.watch(lambda: stage(file, columns, problems, kept), progress, 0.0, _STAGED)
        found, sums = engine.watch(lambda: _survey(engine, rows, k), progress, _STAGED, _SURVEYED)
        if not found.counts:
            _check.fail(f"{file.name} must contain rows", "none", "check how it was written")
        input_, counts = _meaning(file, found.good, sums, input, bad_rows), found.counts
        labels = found.labels
        if input_ == "probabilities":
            off = [negative + away for _, negative, away, _ in found.more]
            labels = {text: times - less for (text, times), less in zip(labels.items(), off, strict=True)}
            counts = counts | {None: found.good - sum(off), len(problems): sums.negative, len(problems) + 1: sums.off}
            problems += distribution_problems(k)
        dropped = refuse_bad_rows(file, columns, problems, counts, bad_rows)
        codes, foreign = _codes(columns.classes, labels)
        dropped, good = _without_foreign(file, columns, dropped, foreign, counts[None], bad_rows)
        size = max(1, MOST_VALUES // k) if sample is None else _check.whole_number(sample, "sample", low=1)
        usable = _usable(rows, columns, list(foreign), input_, found.whole_weights)
        made = None
        if tables and sample is None and size < good and k <= _MOST_TABLES:
            made = engine.watch(lambda: _tables(engine, usable, columns, codes, input_), progress, _SURVEYED, _TABLED)
        drawn = engine.watch(
            lambda: _fetch(engine, usable, good, min(size, good), random_state), progress, _TABLED, 1.0
        )
    groups = None if columns.groups is None else np.ma.getdata(drawn["group_name"]).astype(str)
    scored = _score_rows(columns, drawn, codes, input_)
    seen = np.bincount(scored.truth, minlength=len(columns.classes))
    unseen = tuple(each for each, times in zip(columns.classes, seen, strict=True) if not times)
    keys = (np.ma.getdata(drawn[f"k{i}"]) for i in range(len(columns.by)))
    found_rows = rows_by_segment(*keys) if columns.by else {}
    segments = {name: scored.take(at) for name, at in sorted(found_rows.items())}
    gap = sums.gap if input_ == "probabilities" else 0.0
    return ScoreRowData(scored, good, unseen, dropped, gap, made, groups, segments)


def distribution_problems(k: int, start: int = 0) -> list[RowProblem]:
    """Return what may be wrong with probabilities of k classes, from f{start} on, beside what may be with any score."""
    fields = [f"TRY_CAST(f{i} AS DOUBLE)" for i in range(start, start + k)]
    total = sum_of(fields)
    return [
        RowProblem(f"least({', '.join(fields)}) < 0", "a probability is negative"),
        RowProblem(f"abs({total} - 1) > {ROUNDED}", "probabilities do not sum to 1", f"': ' || ({total})"),
    ]


class _Sums(NamedTuple):
    """What rows without a problem sum to."""

    high: float  # the largest score
    negative: int  # rows with a score below 0
    off: int  # others that do not sum to 1
    gap: float  # the largest distance from 1 of the sums that nearly do


def _survey(engine: Engine, rows: str, k: int) -> tuple[Survey, _Sums]:
    """Look at all rows once."""
    scores = [f"s{i}" for i in range(k)]
    within = f"(SELECT *, {sum_of(scores)} AS total, least({', '.join(scores)}) AS low FROM {rows})"
    more = (
        f"max(greatest({', '.join(scores)}))",
        "count_if(low < 0)",
        f"count_if(low >= 0 AND abs(total - 1) > {ROUNDED})",
        f"max(abs(total - 1)) FILTER (low >= 0 AND abs(total - 1) <= {ROUNDED})",
    )
    found = survey(engine, within, _MAX_LABELS, _MANY, more)
    high, negative, off, gap = zip(*found.more, strict=True) if found.more else ((), (), (), ())
    nearly = (each for each in gap if each is not None)
    return found, _Sums(max(high, default=0.0), sum(negative), sum(off), max(nearly, default=0.0))


def _meaning(
    file: ScoreFile, good: int, sums: _Sums, input: RowMeaning, bad_rows: BadRowPolicy
) -> Literal["logits", "probabilities"]:
    """Return what columns hold; refuse to guess where they look like probabilities and do not sum to 1."""
    if input != "auto":
        return input
    if sums.negative == sums.off == 0:
        return "probabilities"
    if sums.negative or sums.high > 1:
        return "logits"
    if bad_rows == "skip" and sums.off < good:
        return "probabilities"
    return _check.fail(
        f"scores of {file.name} within [0, 1] must sum to 1 in every row, as probabilities do",
        f"{sums.off:,} of {good:,} rows with another sum",
        'pass input="logits" (--scores-are logits) if they are not probabilities, or bad_rows="skip" (--bad-rows skip)',
    )


def _codes(classes: Sequence[Label], labels: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """Return the column of each label as it is written, and how many rows have labels of no column."""
    values = class_values([*map(str, classes)], list(labels))
    place = {value: i for i, value in enumerate(values[: len(classes)])}
    written = dict(zip(labels, values[len(classes) :], strict=True))
    codes = {text: place[value] for text, value in written.items() if value in place}
    return codes, {text: times for text, times in labels.items() if times and text not in codes}


def _without_foreign(
    file: ScoreFile,
    columns: Columns,
    dropped: BadRows | None,
    foreign: Mapping[str, int],
    good: int,
    policy: BadRowPolicy,
) -> tuple[BadRows | None, int]:
    """Refuse labels that no column has, or leave their rows out; return what is left out, and how many rows stay."""
    if not foreign:
        return dropped, good
    rows = sum(foreign.values())
    if policy == "refuse" or rows >= good:
        known = list_columns([str(each) for each in columns.classes])
        _check.fail(
            f"every label of {file.name} must be one of the classes {known}",
            f"{list_columns(list(foreign))} in {rows:,} of {good:,} rows",
            "name the classes in the order of the columns with classes= (--classes), or add their columns to "
            "scores= (--scores)" + ('; bad_rows="skip" (--bad-rows skip) leaves such rows out' if rows < good else ""),
        )
    before = dropped or BadRows(0, good, {})
    reasons = {**before.reasons, _NO_COLUMN: rows}
    return replace(before, count=before.count + rows, reasons=reasons), good - rows


def _usable(rows: str, columns: Columns, foreign: Sequence[str], input_: str, whole_weights: bool) -> str:
    """Return a query for s0 and so on, label and weight of the rows that are used."""
    scores = [f"s{i}" for i in range(len(columns.scores))]
    kept = [f"{score_expression(name, 'total', input_)} AS {name}" for name in scores]
    kept.append("label")
    if columns.weight is not None:
        kept.append(f"CAST(weight AS {'BIGINT' if whole_weights else 'DOUBLE'}) AS weight")
    if columns.groups is not None:
        kept.append("group_name")
    kept += [f"k{i}" for i in range(len(columns.by))]
    conditions = ["problem IS NULL"]
    if foreign:
        conditions.append(f"label NOT IN ({', '.join(map(text_literal, foreign))})")
    if input_ == "probabilities":
        conditions.append(f"least({', '.join(scores)}) >= 0 AND abs(total - 1) <= {ROUNDED}")
        rows = f"(SELECT *, {sum_of(scores)} AS total FROM {rows})"
    return f"SELECT {', '.join(kept)} FROM {rows} WHERE {' AND '.join(conditions)}"


def score_expression(name: str, total: str, input_: str) -> str:
    """Return an expression for a score, of a rounded probability divided by the sum of its row."""
    return name if input_ == "logits" else f"CASE WHEN abs({total} - 1) > {EXACT} THEN {name} / {total} ELSE {name} END"


def _tables(
    engine: Engine, usable: str, columns: Columns, codes: Mapping[str, int], input_: str
) -> tuple[ScoreTable, ...]:
    """Return the table of each class against the rest, of all rows, by one aggregate query."""
    k = len(columns.scores)
    scores = [f"s{i}" for i in range(k)]
    code = " ".join(f"WHEN {text_literal(text)} THEN {place}" for text, place in codes.items())
    kept = [f"CASE label {code} END AS code", *([] if columns.weight is None else ["weight"])]
    if input_ == "probabilities":
        logs = ", ".join(f"ln(greatest({one}, {LEAST})) AS {one}" for one in scores)
        usable = f"SELECT * REPLACE ({logs}) FROM ({usable})"
    # Each sum has a term that is 1, but for the largest class itself, whose sum is held above 0.
    top = f"greatest({', '.join(scores)})"
    others = [sum_of([f"exp({other} - top)" for other in scores if other != one]) for one in scores]
    kept += [f"{one} - top - ln(greatest({sums}, {_LEAST})) AS {one}" for one, sums in zip(scores, others, strict=True)]
    usable = f"SELECT *, {top} AS top FROM ({usable})"
    relation = engine.connection.sql(f"SELECT {', '.join(kept)} FROM ({usable})")
    return tuple(class_tables(relation, scores, "code", range(k), None if columns.weight is None else "weight"))


def _fetch(engine: Engine, usable: str, good: int, size: int, random_state: int) -> dict[str, Any]:
    """Fetch rows in their order, all or a random sample."""
    query = usable
    if size < good:
        # Drawn here, not by the engine, whose sample depends on its threads.
        chosen = np.random.default_rng(random_state).choice(good, size, replace=False, shuffle=False)
        engine.connection.register("chosen_rows", {"place": chosen})
        numbered = f"SELECT *, row_number() OVER () - 1 AS place FROM ({usable})"
        query = f"SELECT * EXCLUDE place FROM ({numbered}) SEMI JOIN chosen_rows USING (place) ORDER BY place"
    return dict(engine.connection.execute(query).fetchnumpy())


def _score_rows(
    columns: Columns, drawn: dict[str, Any], codes: Mapping[str, int], input_: Literal["logits", "probabilities"]
) -> ScoreRows:
    values = np.column_stack([np.ma.getdata(drawn.pop(f"s{i}")) for i in range(len(columns.scores))])
    texts, places = np.unique(np.ma.getdata(drawn["label"]).astype(str), return_inverse=True)
    truth = np.array([codes[text] for text in texts.tolist()], dtype=np.int64)[places]
    weight = None if columns.weight is None else _check.as_weights(np.ma.getdata(drawn["weight"]), len(truth))
    meaning: Meaning = "log_odds" if input_ == "logits" else "probability"
    return ScoreRows(values, truth, columns.classes, weight, columns.scores, meaning)
