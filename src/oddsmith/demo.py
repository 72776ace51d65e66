"""The whole idea in a minute, on data that come with scikit-learn: ``oddsmith demo``."""

import textwrap
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.naive_bayes import MultinomialNB

from oddsmith._types import Floats, Ints
from oddsmith.calibrators import METHODS, AutoCalibrator, Calibrator
from oddsmith.data import ScoreTable
from oddsmith.errors import OddsmithWarning
from oddsmith.files import replacing
from oddsmith.metrics import plain
from oddsmith.report import summarize, to_html

__all__ = ["REPORT", "DemoResult", "main", "run_demo"]


REPORT = Path("oddsmith-demo.html")
_NAME = "handwritten digits"
_SOURCE = {"Data": "scikit-learn's digits: is it 5 or more?", "Scores": "log-odds of naive Bayes, out of fold"}


class MethodResult(NamedTuple):
    """How a method does on new cases, means per case; errors are counted."""

    method: str
    log_loss: float
    brier: float
    errors: int
    seconds: float


@dataclass(frozen=True)
class DemoResult:
    """A classifier, its calibration by every method on new cases, the comparison, and where the report is."""

    trained_on: int
    tested_on: int
    table: str
    methods: list[MethodResult]
    auto: str
    verdict: str
    report: str

    @property
    def text(self) -> str:
        """The result as people read it."""
        rows = []
        for rank, (name, log_loss, brier, errors, seconds) in enumerate(self.methods):
            mark = " <- best" if rank == 0 else "  (uncalibrated)" if name == "squash" else ""
            rows.append(f"{name:<30}{log_loss:>10.4f}{brier:>9.4f}{errors:>8d}{1e3 * seconds:>7.1f} ms{mark}")
        return "\n".join(
            [
                "Handwritten digits that come with scikit-learn: is the digit 5 or more?",
                f"naive Bayes on {self.trained_on} images; log-odds from 5-fold cross-validation; "
                f"tested on {self.tested_on} others",
                "",
                self.table,
                "",
                f"{'method':<30}{'log-loss':>10}{'Brier':>9}{'errors':>8}{'fit':>10}",
                *rows,
                "",
                "log-loss in nats and Brier score are means per case; smaller is better.",
                "",
                *textwrap.wrap(f"Auto: {self.auto}", 110),
                "",
                *textwrap.wrap(f"Report: {self.verdict}", 110),
                f"The report is in {self.report}: open it in a browser.",
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return dict(plain(asdict(self) | {"methods": [row._asdict() for row in self.methods]}))


def run_demo(output: Path = REPORT, progress: Callable[[float], None] | None = None) -> DemoResult:
    """Train, calibrate, compare and report; a report of an earlier demo is replaced, nothing else."""
    with replacing(output, force=_is_ours(output)) as page:
        X, digit = load_digits(return_X_y=True)
        y = (digit >= 5).astype(int)
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
        table = ScoreTable.from_arrays(_out_of_fold(X_train, y_train), y_train)
        test = _log_odds(X_train, y_train, X_test)
        methods = {name: cls() for name, cls in METHODS.items()}
        results = [_evaluate(name, method, table, test, y_test) for name, method in methods.items()]
        summary = summarize(table, methods, name=_NAME, source=_SOURCE, input="log_odds", progress=progress)
        page.write_text(to_html(summary), encoding="utf-8")
    return DemoResult(
        len(y_train),
        len(y_test),
        str(table),
        sorted(results, key=lambda row: row.log_loss),
        AutoCalibrator(input="log_odds").fit_table(table).verdict_,
        summary["verdict"],
        str(output),
    )


def main(output: Path = REPORT) -> None:
    """Run the demo and print its result."""
    print(run_demo(output).text)


def _is_ours(output: Path) -> bool:
    """Whether an earlier demo wrote this."""
    return output.is_file() and f"<title>Calibration of {_NAME}</title>" in output.read_text("utf-8", errors="replace")


def _out_of_fold(X: Floats, y: Ints) -> Floats:
    """Return log-odds of rows by classifiers that were trained on others."""
    found = np.empty(len(y))
    for rest, fold in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        found[fold] = _log_odds(X[rest], y[rest], X[fold])
    return found


def _log_odds(X: Floats, y: Ints, X_new: Floats) -> Floats:
    """Return the log-odds of new rows by naive Bayes, unrounded even where its probabilities are 0 and 1."""
    return np.asarray(np.diff(MultinomialNB().fit(X, y).predict_joint_log_proba(X_new))[:, 0])


def _evaluate(name: str, calibrator: Calibrator, table: ScoreTable, scores: Floats, y: Ints) -> MethodResult:
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OddsmithWarning)
        calibrator.fit_table(table)
    seconds = time.perf_counter() - start
    log_odds = calibrator.log_odds(scores)
    log_loss = float(np.mean(np.logaddexp(0, np.where(y == 1, -log_odds, log_odds))))
    prob = calibrator.predict_proba(scores)[:, 1]
    return MethodResult(
        name, log_loss, float(np.mean((prob - y) ** 2)), int(np.sum(calibrator.predict(scores) != y)), seconds
    )


if __name__ == "__main__":
    main()
