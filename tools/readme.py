"""Fill the marked parts of README.md: what commands print, and tables of the documentation.

``make readme`` runs this. A console block after ``<!-- run -->`` shows commands and what they print, and after
``<!-- run: 12 first, 16 last -->`` so many lines of it. A table after ``<!-- table: PAGE, HEADING -->`` is the first
one under that heading of a page. The picture in it is drawn again.
"""

import os
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np

from oddsmith.metrics import log_loss, squared_error

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "README.md"
PICTURE = ROOT / "docs" / "before-after.png"

_CONSOLE = re.compile(r"(<!-- run(?:: (\d+) first, (\d+) last)? -->\n\n```console\n)(.*?)(```\n)", re.DOTALL)
_TABLE = re.compile(r"(<!-- table: (\S+), (.+?) -->\n\n)((?:\|.*\n)*)")


def commands(text: str) -> list[str]:
    """Return the commands that marked blocks show, in their order."""
    return [line[2:] for block in _CONSOLE.finditer(text) for line in block[4].splitlines() if line.startswith("$ ")]


def filled(text: str, run: Callable[[str], str]) -> str:
    """Return a page with marked parts filled; ``run`` says what a command prints."""

    def console(block: re.Match[str]) -> str:
        lines = []
        for command in commands(block[0]):
            printed = [part for line in run(command).rstrip().splitlines() for part in textwrap.wrap(line, 110) or [""]]
            if block[2] and len(printed) > int(block[2]) + int(block[3]):
                printed = [*printed[: int(block[2])], "…", *printed[-int(block[3]) :]]
            lines += [f"$ {command}", *printed]
        return "\n".join([block[1] + lines[0], *lines[1:], block[5]])

    def table(place: re.Match[str]) -> str:
        section = (ROOT / place[2]).read_text().partition(f"\n## {place[3]}\n")[2]
        return place[1] + re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)[0]

    return _TABLE.sub(table, _CONSOLE.sub(console, text))


def without_times(text: str) -> list[str]:
    """Return lines without the one column that differs from run to run."""
    return [re.sub(r"\s+[\d.]+ ms", "", line).rstrip() for line in text.splitlines()]


def simulate(folder: Path) -> None:
    """Write the files that the commands read: scores that are twice as sure as they should be."""
    rng = np.random.default_rng(0)
    log_odds = rng.normal(-0.5, 1.5, 1500)
    happened = rng.random(1500) < 1 / (1 + np.exp(-log_odds))
    rows = [f"{s:.3f},{'yes' if y else 'no'}\n" for s, y in zip(2 * log_odds, happened, strict=True)]
    for name, part in {"scores.csv": rows[:1000], "new.csv": rows[1000:]}.items():
        (folder / name).write_text("score,label\n" + "".join(part))


def runner(folder: Path) -> Callable[[str], str]:
    """Return what runs commands in a folder with simulated files; ``make demo`` is the program's demo."""
    simulate(folder)
    main = "import sys; from oddsmith.cli import main; main(sys.argv[1:])"
    environment = {**os.environ, "COLUMNS": "110", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}

    def run(command: str) -> str:
        words = command.replace("make ", "oddsmith ").split()[1:]
        done = subprocess.run(
            [sys.executable, "-c", main, *words],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=True,
        )
        return done.stdout

    return run


def draw(path: Path) -> None:
    """Draw the reliability of the classifier in the first example, before and after."""
    from matplotlib.figure import Figure
    from sklearn.datasets import load_digits
    from sklearn.naive_bayes import MultinomialNB

    from oddsmith import CalibratedClassifier
    from oddsmith.plots import ReliabilityDisplay

    X, digits = load_digits(return_X_y=True)
    y = digits >= 5
    models = {"before": MultinomialNB(), "after": CalibratedClassifier(MultinomialNB(), cv=5)}
    figure = Figure(figsize=(9, 5.2), layout="compressed")
    for ax, (name, model) in zip(figure.subplots(1, len(models)), models.items(), strict=True):
        prob = model.fit(X[:900], y[:900]).predict_proba(X[900:])[:, 1]
        print(
            name, "Brier score", round(squared_error(y[900:], prob), 4), "log-loss", round(log_loss(y[900:], prob), 4)
        )
        ReliabilityDisplay.from_predictions(y[900:], prob, ax=ax, name=name)
    figure.savefig(path, dpi=100, metadata={"Software": None})


if __name__ == "__main__":
    draw(PICTURE)
    with tempfile.TemporaryDirectory() as name:
        PAGE.write_text(filled(PAGE.read_text(), runner(Path(name))))
