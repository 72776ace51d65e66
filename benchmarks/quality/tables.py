"""Results as Markdown that also reads well as plain text."""

from collections.abc import Sequence

import numpy as np


def standings_table(rows: Sequence[dict], sizes: Sequence[str]) -> str:
    """Return the standings: win rates, log-loss and Brier score times 10³, mean ranks, overall and by size."""
    columns = {
        f"{measure}{part}": (part or title, digits)
        for measure, title, digits in (("log_loss", "log-loss", 2), ("brier", "Brier", 2), ("rank", "rank", 1))
        for part in ("", *(f"@{size}" for size in sizes))
    }
    wins = {"wins_log_loss": "wins on log-loss", "wins_brier": "wins on Brier"}
    heads = ["competitor", *wins.values(), *(head for head, _ in columns.values()), "failures", "infinite"]
    body = []
    for row in rows:
        numbers = [_with_interval(*row[key]) for key in wins]
        numbers += [f"{row[key]:.{digits}f}" for key, (_, digits) in columns.items()]
        body.append([row["competitor"], *numbers, str(row["failures"] or ""), str(row["infinite"] or "")])
    return (
        "Mean share of the others beaten on a task, with a 95 % interval from drawing whole sources of data (if six or "
        "more); mean test losses × 10³ and mean ranks by log-loss, over all tasks and @ each calibration size. "
        "Failures: fits replaced by the base rate. Infinite: tasks in which a probability of 0 or 1 was wrong, clipped "
        "at 10⁻¹⁵.\n\n" + markdown(heads, body)
    )


def _with_interval(value: float, low: float, high: float) -> str:
    return f"{value:.2f}" if np.isnan(low) else f"{value:.2f} ({low:.2f}–{high:.2f})"


def reference_table(rows: Sequence[dict], reference: str) -> str:
    """Return the tests of one competitor against all others."""
    body = [
        [
            row["competitor"],
            f"{row['difference']:+.2f}",
            "" if np.isnan(row["low"]) else f"{row['low']:+.2f} … {row['high']:+.2f}",
            f"{row['difference_where_it_ran']:+.2f}",
            f"{row['wins']} of {row['sources']}",
            f"{row['wilcoxon']:.4f}",
            f"{row['holm']:.4f}" + ("" if row["holm"] >= 0.05 else " *"),
        ]
        for row in rows
    ]
    heads = ["against", "difference", "95 % interval", "where it ran", "better in", "Wilcoxon p", "Holm p"]
    return (
        f"{reference} against each other one: log-loss difference × 10³ (negative: {reference} is better), with an "
        "interval from drawing whole sources of data; Wilcoxon's test of the means of the sources.\n\n"
        + markdown(heads, body)
    )


def nothing_table(rows: Sequence[dict]) -> str:
    """Return the losses over doing nothing, with their upper limits."""
    parts = [key for key in rows[0] if f"{key} limit" in rows[0]]
    titles = {"all": "all scores", "inner": "within (0, 1)"}
    body = []
    for row in rows:
        limits = [row[f"{part} limit"] for part in parts]
        shown = ["" if np.isnan(limit) else f" (≤ {limit:+.2f})" for limit in limits]
        cells = [f"{row[part]:+.2f}{limit}" for part, limit in zip(parts, shown, strict=True)]
        safe = "" if np.isnan(row["all limit"]) else "yes" if row["all limit"] <= 0 else "no"
        body.append([row["competitor"], *cells, safe])
    heads = ["competitor", *(titles.get(part, part) for part in parts), "not worse on all"]
    return (
        "Against doing nothing: log-loss difference × 10³ (negative: better) and its upper 95 % limit over sources.\n"
        "On all scores; where scores are probabilities, none of them 0 or 1; and, of two classes, on logistic "
        "regression alone, which leaves least to gain.\n\n" + markdown(heads, body)
    )


def markdown(heads: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Return a table with the first column to the left and numbers to the right."""
    widths = [max(map(len, column)) for column in zip(heads, *body, strict=True)]

    def line(cells: Sequence[str]) -> str:
        first, *rest = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        return "| " + " | ".join([first.strip().ljust(widths[0]), *rest]) + " |\n"

    rule = "|" + "-" * (widths[0] + 2) + "|" + "|".join("-" * (width + 1) + ":" for width in widths[1:]) + "|\n"
    return line(heads) + rule + "".join(map(line, body))
