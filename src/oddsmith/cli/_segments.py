"""Results by segment, for commands with ``--by``."""

from typing import TYPE_CHECKING, Any

from oddsmith import _check

if TYPE_CHECKING:
    from oddsmith.cli._input import CommandInput
    from oddsmith.cli._output import CommandOutput
    from oddsmith.data import ScoreTable
    from oddsmith.files import ScoreData

#: Rows below which a segment has no result of its own.
MIN_ROWS = 50

#: Segments that are shown.
SHOWN = 20


def refuse_by(source: "CommandInput") -> None:
    """Refuse ``--by`` where there is a column per class, or with ``--groups``."""
    if source.by is None:
        return
    if source.several:
        hint = "leave --by out, or split the file"
        _check.fail("--by is for the scores of two classes", f"--by {source.by} with a column per class", hint)
    if source.groups is not None:
        got = f"--groups {source.groups} --by {source.by}"
        _check.fail("--groups must not be combined with --by", got, "leave one of them out")


def segments_of(source: "CommandInput", data: "ScoreData", out: "CommandOutput") -> "dict[str, ScoreTable]":
    """Return the tables of the segments that have enough rows, and print how many have not."""
    if source.by is None:
        return {}
    named = {name if isinstance(name, str) else ", ".join(map(str, name)): part for name, part in data.segments.items()}
    kept = {name: part for name, part in named.items() if part.rows >= MIN_ROWS}
    left = len(named) - len(kept)
    if left:
        what = "1 segment has" if left == 1 else f"{left:,} segments have"
        out.remark(f"{what} fewer than {MIN_ROWS} rows and no result.")
    return kept


def distance_from_zero(gap: dict[str, Any]) -> tuple[float, float]:
    """Return how far a difference is from 0 at least, by its interval, and as it is."""
    ends = gap.get("interval", {})
    low, high = ends.get("low", 0.0), ends.get("high", 0.0)
    return max(low, -high, 0.0), abs(gap["value"])


def caption_of(n: int, order: str) -> str:
    """Return the line below a table of segments."""
    more = f"; {n - SHOWN:,} more with --json" if n > SHOWN else ""
    return f"segments of at least {MIN_ROWS} rows, {order}{more}"
