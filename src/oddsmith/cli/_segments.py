"""Results by segment, for commands with ``--by``."""

from typing import TYPE_CHECKING, Any, TypeVar

from oddsmith import _check

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oddsmith.cli._input import CommandInput
    from oddsmith.cli._output import CommandOutput
    from oddsmith.data import ScoreRows, ScoreTable

    Rows = TypeVar("Rows", ScoreTable, ScoreRows)

#: Rows below which a segment has no result of its own.
MIN_ROWS = 50

#: Segments that are shown.
SHOWN = 20


def refuse_groups(source: "CommandInput") -> None:
    """Refuse ``--by`` with ``--groups``."""
    if source.by is not None and source.groups is not None:
        got = f"--groups {source.groups} --by {source.by}"
        _check.fail("--groups must not be combined with --by", got, "leave one of them out")


def segments_of(source: "CommandInput", found: "Mapping[Any, Rows]", out: "CommandOutput") -> "dict[str, Rows]":
    """Return the data of the segments that have enough rows, and print how many have not."""
    if source.by is None:
        return {}
    named: dict[str, Rows] = {}
    for key, part in found.items():
        name = key if isinstance(key, str) else ", ".join(map(str, key))
        named[repr(key) if name in named else name] = part  # ("a, b", "c") and ("a", "b, c") are named alike
    kept = {name: part for name, part in named.items() if _n_rows(part) >= MIN_ROWS}
    left = len(named) - len(kept)
    if left:
        what = "1 segment has" if left == 1 else f"{left:,} segments have"
        out.remark(f"{what} fewer than {MIN_ROWS} rows and no result.")
    return kept


def _n_rows(data: "ScoreTable | ScoreRows") -> int:
    from oddsmith.data import ScoreTable

    return data.rows if isinstance(data, ScoreTable) else data.n_rows


def distance_from_zero(gap: dict[str, Any]) -> tuple[float, float]:
    """Return how far a difference is from 0 at least, by its interval, and as it is."""
    ends = gap.get("interval", {})
    low, high = ends.get("low", 0.0), ends.get("high", 0.0)
    return max(low, -high, 0.0), abs(gap["value"])


def caption_of(n: int, order: str) -> str:
    """Return the line below a table of segments."""
    more = f"; {n - SHOWN:,} more with --json" if n > SHOWN else ""
    return f"segments of at least {MIN_ROWS} rows, {order}{more}"
