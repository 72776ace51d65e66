"""Files to run commands on."""

from pathlib import Path

import duckdb
import numpy as np


def sample(n=400, seed=0):
    """Scores, labels and segments."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=n) * 2
    label = (rng.random(n) < 1 / (1 + np.exp(-0.8 * score + 0.3))).astype(int)
    return score, label, np.array(["north", "south"])[rng.integers(2, size=n)]


def csv_text(columns, separator=","):
    rows = zip(*columns.values(), strict=True)
    return "".join(f"{separator.join(str(field) for field in row)}\n" for row in (columns, *rows))


def many_rows(path: Path, rows: int) -> Path:
    """Write a large file of scores and labels, quickly."""
    query = (
        "SELECT (hash(i) % 1000003) / 100000.0 - 5 AS score, (hash(i + 7) % 100 < 30)::INT AS label, "
        f"hash(i) % 5 AS part FROM range({rows}) t(i)"
    )
    duckdb.sql(f"COPY ({query}) TO '{path}'")
    return path


def write_labeled(path: Path, rows=300, seed=3, offset=0.0) -> Path:
    """Write rows like those of `sample`, with labels that are off by some log-odds."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=rows) * 2
    label = (rng.random(rows) < 1 / (1 + np.exp(-0.8 * score + 0.3 - offset))).astype(int)
    lines = (f'{{"score": {s!r}, "label": {y}}}\n' for s, y in zip(score.tolist(), label.tolist(), strict=True))
    path.write_text("".join(lines))
    return path
