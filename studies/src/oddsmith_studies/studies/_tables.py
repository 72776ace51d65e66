"""Tables of results: one value, written as Markdown, CSV and JSON; and ours next to the published ones."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from oddsmith import checks
from oddsmith.metrics import Interval
from oddsmith.metrics.result import plain
from oddsmith_studies.studies._published import PublishedTable

Cell = str | int | float | Interval | None
Keys = tuple[str, ...]


#: Columns that fit on a page.
WIDEST = 9


class Column(NamedTuple):
    """A column of numbers, with the format in which they are shown.

    Columns of the same ``group`` stay together where a table is too wide for one page.
    """

    name: str
    format: str = ".4g"
    group: str = ""


@dataclass(frozen=True)
class Table:
    """A table of a study.

    Parameters
    ----------
    name : str
        Of its files.
    title : str
    columns : sequence of str or Column
        A plain name is a column of words.
    rows : sequence of sequence of cells
        Words, numbers, intervals, or None where there is nothing.
    note : str, default ""
        What a reader must know; it goes under the table.

    Examples
    --------
    >>> print(Table("t", "Losses", ("method", Column("loss", ".2f")), [("Platt", 0.421), ("raw", None)]).to_markdown())
    **Losses**
    <BLANKLINE>
    | method | loss |
    | --- | ---: |
    | Platt | 0.42 |
    | raw | – |
    """

    name: str
    title: str
    columns: Sequence[str | Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""

    def __post_init__(self) -> None:
        if wrong := [row for row in self.rows if len(row) != len(self.columns)]:
            checks.fail(f"rows of table {self.name!r} must have {len(self.columns)} cells", f"{wrong[0]}", "fill them")

    @property
    def header(self) -> list[str]:
        """Names of the columns."""
        return [column if isinstance(column, str) else column.name for column in self.columns]

    def shown(self) -> list[list[str]]:
        """Return the cells as they are to be read."""
        formats = ["" if isinstance(column, str) else column.format for column in self.columns]
        return [[written(cell, form) for cell, form in zip(row, formats, strict=True)] for row in self.rows]

    def to_markdown(self) -> str:
        """Write the table for people; one that is too wide in pieces, each with the columns that name its rows."""
        cells = self.shown()
        pieces = []
        for places in self._pages():
            header = [self.header[i] for i in places]
            marks = ["---" if isinstance(self.columns[i], str) else "---:" for i in places]
            lines = [_line(header), _line(marks), *(_line([row[i] for i in places]) for row in cells)]
            pieces.append("\n".join(lines))
        return "\n\n".join([f"**{self.title}**", *pieces, *([self.note] if self.note else [])])

    def cell(self, column: str, *keys: Cell) -> Any:
        """Return the cell of a column in the row that starts with some keys."""
        place = self.header.index(column)
        for row in self.rows:
            if tuple(row[: len(keys)]) == keys:
                return row[place]
        return checks.fail(f"table {self.name!r} must have the row", f"{keys}", "name one that it has")

    def _pages(self) -> list[list[int]]:
        """Return the places of the columns of each page."""
        everything = list(range(len(self.columns)))
        if len(everything) <= WIDEST:
            return [everything]
        named = next((i for i, column in enumerate(self.columns) if not isinstance(column, str)), len(everything))
        names = everything[: min(named, WIDEST - 1)]
        blocks: list[list[int]] = []
        for i in everything[len(names) :]:
            column = self.columns[i]
            group = column.group if isinstance(column, Column) else ""
            last = self.columns[blocks[-1][-1]] if blocks else None
            together = bool(group) and isinstance(last, Column) and last.group == group
            if together and len(blocks[-1]) < WIDEST - len(names):
                blocks[-1].append(i)
            else:
                blocks.append([i])
        pages: list[list[int]] = []
        for block in blocks:
            if pages and len(pages[-1]) + len(block) <= WIDEST:
                pages[-1] += block
            else:
                pages.append([*names, *block])
        return pages

    def to_csv(self) -> str:
        """Write all digits; an interval takes three columns."""
        page = io.StringIO()
        names, rows = self._plain_columns()
        writer = csv.writer(page, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)
        return page.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """Return title, note, and a dictionary for each row, with all digits."""
        names, rows = self._plain_columns()
        records = [dict(zip(names, plain(row), strict=True)) for row in rows]
        columns = [column if isinstance(column, str) else list(column) for column in self.columns]
        return {"name": self.name, "title": self.title, "note": self.note, "columns": columns, "rows": records}

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> "Table":
        """Return the table that `to_dict` wrote."""
        columns = [column if isinstance(column, str) else Column(*column) for column in kept["columns"]]
        rows = [[_read_cell(row, column) for column in columns] for row in kept["rows"]]
        return cls(kept["name"], kept["title"], columns, rows, kept["note"])

    def _plain_columns(self) -> tuple[list[str], list[list[Any]]]:
        names: list[str] = []
        columns: list[list[Any]] = []
        for place, name in enumerate(self.header):
            cells = [row[place] for row in self.rows]
            split = any(isinstance(cell, Interval) for cell in cells)
            for end in ("value", "low", "high") if split else ("value",):
                names.append(name if end == "value" else f"{name}, {end}")
                columns.append([_end(cell, end) for cell in cells])
        return names, [list(row) for row in zip(*columns, strict=True)]


def with_published(
    name: str,
    title: str,
    published: PublishedTable,
    ours: Mapping[Keys, Mapping[str, float | Interval | None]],
    *,
    formats: Mapping[str, str] | None = None,
    note: str = "",
) -> Table:
    """Put ours next to the published table, with the difference.

    Parameters
    ----------
    name, title : str
    published : PublishedTable
        Its keys and measures name the columns.
    ours : mapping of keys to mapping of measure to value
        In the order of rows; rows and measures that the document lacks are shown too, without published figures.
    formats : mapping of measure to format, optional
    note : str, default ""

    Returns
    -------
    Table

    Examples
    --------
    >>> printed = PublishedTable("Table 1", ("method",), ("errors",), {("LR",): {"errors": 12.0}})
    >>> with_published("t", "Errors", printed, {("LR",): {"errors": 10.0}}).shown()
    [['LR', '10', '12', '-2']]
    """
    shown = list(dict.fromkeys((*published.measures, *(measure for values in ours.values() for measure in values))))
    printed = [measure for measure in shown if measure in published.measures]
    columns: list[str | Column] = list(published.keys)
    for measure in shown:
        form = (formats or {}).get(measure, ".4g")
        columns.append(Column(measure, form, measure))
        if measure in printed:
            columns.append(Column(f"{measure}, published", form, measure))
            columns.append(Column(f"{measure}, difference", "+" + form, measure))
    rows = []
    for keys, values in ours.items():
        cells: list[Cell] = list(keys)
        for measure in shown:
            mine, theirs = values.get(measure), published.rows.get(keys, {}).get(measure)
            cells += [mine, theirs, _difference(mine, theirs)] if measure in printed else [mine]
        rows.append(cells)
    return Table(name, title, columns, rows, " ".join(filter(None, (note, f"Published: {published.where}."))))


def written(cell: Cell, form: str) -> str:
    """Return a cell as it is to be read."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "–"
    if isinstance(cell, Interval):
        return f"{cell.value:{form}} [{cell.low:{form}}, {cell.high:{form}}]"
    return cell if isinstance(cell, str) else format(cell, form)


def _difference(mine: float | Interval | None, theirs: float | None) -> float | None:
    value = mine.value if isinstance(mine, Interval) else mine
    if value is None or theirs is None or not (math.isfinite(value) and math.isfinite(theirs)):
        return None
    return value - theirs


def _read_cell(row: Mapping[str, Any], column: str | Column) -> Cell:
    if isinstance(column, str):
        word: Cell = row[column]
        return word
    value = row[column.name]
    if value is not None and row.get(f"{column.name}, low") is not None:
        low, high = (float(row[f"{column.name}, {end}"]) for end in ("low", "high"))
        return Interval(float(value), low, high, 0.95, "")
    # JSON has no infinity: it is written as a word.
    return float(value) if isinstance(value, str) else value


def _end(cell: Cell, end: str) -> Any:
    if isinstance(cell, Interval):
        return getattr(cell, end)
    return cell if end == "value" else None


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;').replace('<', '&lt;') for cell in cells)} |"
