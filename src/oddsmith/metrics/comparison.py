"""The matrix of several methods on the same decisions, and its tables."""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from oddsmith._types import Bools, Floats, Weights
from oddsmith.metrics.result import Result, plain


@dataclass(frozen=True, eq=False)
class MeasureComparison(Result):
    """All pairs of methods on one measure.

    Parameters
    ----------
    measure : str
        What was measured.
    names : tuple of str
        The methods.

    Attributes
    ----------
    means : ndarray of shape (k,)
        Mean log-loss, squared error or share of errors of each method; smaller is better.
    wins, ties : ndarray of shape (k, k)
        wins[i, j]: decisions that method i did better than j; losses are ``wins.T``. Counts, or weights.
    p_values, holm : ndarray of shape (k, k)
        Uncorrected, and corrected for the number of pairs.
    better : ndarray of bool, shape (k, k)
        Whether i did better than j on the whole, by what the test looks at.
    test : str
        The test.
    alpha : float
        Its level of significance, for both kinds of p-values.

    See Also
    --------
    Comparison : Contains one per measure.
    """

    measure: str
    names: tuple[str, ...]
    means: Floats
    wins: Weights
    ties: Weights
    p_values: Floats
    holm: Floats
    better: Bools
    test: str
    alpha: float

    @property
    def losses(self) -> Weights:
        """losses[i, j]: decisions that method i did worse than j."""
        return self.wins.T

    @property
    def best(self) -> str:
        """The method with the smallest mean."""
        return self.names[int(np.argmin(self.means))]

    def not_beaten(self, name: str, *, corrected: bool = False) -> tuple[str, ...]:
        """Return the other methods that this one does not beat significantly.

        Parameters
        ----------
        name : str
            A method.
        corrected : bool
            Whether p-values are Holm's.

        Returns
        -------
        tuple[str, ...]
        """
        i = self.names.index(name)
        p = self.holm if corrected else self.p_values
        won = self.better[i] & (p[i] < self.alpha)
        return tuple(other for j, other in enumerate(self.names) if j != i and not won[j])

    def mark(self, name: str, raw: str | None = None, *, corrected: bool = False) -> str:
        """Return "*" for a method that beats all others, "†" all but the raw one, "‡" all but one or two of many.

        Parameters
        ----------
        name : str
            A method.
        raw : str, optional
            The uncalibrated method, against which others are marked.
        corrected : bool, default False
            Whether p-values are Holm's.

        Returns
        -------
        str
        """
        left = self.not_beaten(name, corrected=corrected)
        if not left:
            return "*"
        if raw is not None and left == (raw,) and len(self.names) > 2:
            return "†"
        return "‡" if len(left) <= 2 and 2 * len(left) < len(self.names) - 1 else ""

    def to_dict(self, raw: str | None = None) -> dict[str, Any]:
        """Return methods with means and marks, and pairs with wins, losses, ties and p-values.

        Parameters
        ----------
        raw : str, optional
            The uncalibrated method, against which others are marked.

        Returns
        -------
        dict
        """
        methods = {
            name: {
                "mean": self.means[i],
                "mark": self.mark(name, raw),
                "not_beaten": self.not_beaten(name),
                "mark_holm": self.mark(name, raw, corrected=True),
                "not_beaten_holm": self.not_beaten(name, corrected=True),
            }
            for i, name in enumerate(self.names)
        }
        pairs = [
            {
                "first": self.names[i],
                "second": self.names[j],
                "wins": self.wins[i, j],
                "losses": self.wins[j, i],
                "ties": self.ties[i, j],
                "p_value": self.p_values[i, j],
                "p_holm": self.holm[i, j],
            }
            for i, j in combinations(range(len(self.names)), 2)
        ]
        head = {"measure": self.measure, "test": self.test, "alpha": self.alpha, "best": self.best}
        return dict(plain(head | {"methods": methods, "pairs": pairs}))


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """Several methods on the same decisions; ``str`` gives the table, ``comparison["log_loss"]`` one measure.

    Parameters
    ----------
    measures : mapping of str to MeasureComparison
        A comparison by each measure.
    decisions : float
        The number, or weight, of decisions.
    raw : str, optional
        The name of the uncalibrated method.

    See Also
    --------
    compare : Returns it.
    MeasureComparison : The part of one measure.
    """

    measures: dict[str, MeasureComparison]
    decisions: float
    raw: str | None

    def __getitem__(self, measure: str) -> MeasureComparison:
        return self.measures[measure]

    def __repr__(self) -> str:
        methods = len(next(iter(self.measures.values())).names)
        return f"Comparison(methods={methods}, decisions={self.decisions:g}, best={self['log_loss'].best!r})"

    def __str__(self) -> str:
        return self.to_markdown()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain JSON.

        Returns
        -------
        dict
        """
        parts = {name: part.to_dict(self.raw) for name, part in self.measures.items()}
        head = {"decisions": self.decisions, "raw": self.raw}
        return dict(plain(head)) | {"measures": parts}

    def _repr_html_(self) -> str:
        """Return the means as a table, the best in bold, with the marks."""
        parts = list(self.measures.values())
        head = "".join(f"<th>{html.escape(title)}</th>" for title in ("method", *self.measures))
        rows = "".join(
            f"<tr><th>{html.escape(name)}</th>{''.join(_html_cell(part, name, self.raw) for part in parts)}</tr>"
            for name in parts[0].names
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table><p>{html.escape(self._caption)}</p>"

    @property
    def _caption(self) -> str:
        return f"{self.decisions:g} decisions; means per decision, smaller is better"

    def to_markdown(self) -> str:
        """Return the means with their marks, what the marks mean, and every pair, as Markdown tables.

        Returns
        -------
        str
        """
        parts = list(self.measures.values())
        names = parts[0].names
        means = [[name, *(_mean(part, name, self.raw) for part in parts)] for name in names]
        pairs = len(names) * (len(names) - 1) // 2
        over = "1 pair" if pairs == 1 else f"{pairs} pairs"
        tests = [
            f"- {part.measure}: {part.test}, level {part.alpha:g} after Holm's correction over {over}"
            f"{_exceptions(part, self.raw)}"
            for part in parts
        ]
        raw = "" if self.raw is None else f", † all but {self.raw}"
        lines = [
            self._caption,
            "",
            *_table(["method", *self.measures], means),
            "",
            f"**Best** in bold; * beats all others{raw}, ‡ all except the named.",
            "",
            *tests,
        ]
        for part in parts:
            lines += ["", f"{part.measure}, wins : losses : ties, p and p after Holm:", "", *_pairs(part)]
        return "\n".join(lines)


def _mean(part: MeasureComparison, name: str, raw: str | None) -> str:
    value, best = part.means[part.names.index(name)], part.means[part.names.index(part.best)]
    mean = f"**{value:.6g}**" if value == best else f"{value:.6g}"
    return f"{mean} {part.mark(name, raw, corrected=True)}".rstrip()


def _html_cell(part: MeasureComparison, name: str, raw: str | None) -> str:
    text = re.sub(r"\*\*(.+)\*\*", r"<strong>\1</strong>", _mean(part, name, raw))
    return f"<td>{text}</td>"


def _exceptions(part: MeasureComparison, raw: str | None) -> str:
    """Name what the methods marked "‡" do not beat."""
    marked = [name for name in part.names if part.mark(name, raw, corrected=True) == "‡"]
    left = {name: part.not_beaten(name, corrected=True) for name in marked}
    return "".join(f"; ‡ {name}: all except {', '.join(others)}" for name, others in left.items())


def _pairs(part: MeasureComparison) -> list[str]:
    def cell(i: int, j: int) -> str:
        if i == j:
            return ""
        amounts = " : ".join(f"{amount:g}" for amount in (part.wins[i, j], part.wins[j, i], part.ties[i, j]))
        return f"{amounts}, {part.p_values[i, j]:.2g} ({part.holm[i, j]:.2g})"

    k = len(part.names)
    rows = [[name, *(cell(i, j) for j in range(k))] for i, name in enumerate(part.names)]
    return _table(["against", *part.names], rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Write a Markdown table whose columns line up."""
    cells = [[text.replace("|", "\\|") for text in row] for row in (head, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    first, *others = [
        [row[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))]
        for row in cells
    ]
    return [f"| {' | '.join(row)} |" for row in (first, rule, *others)]
