"""The whole idea in a minute, on data that come with scikit-learn: ``oddsmith demo``."""

import textwrap
import time
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, train_test_split

import oddsmith
from oddsmith import AutoCalibrator, Calibrator, ScoreTable
from oddsmith.errors import OddsmithWarning
from oddsmith.files import write_atomically
from oddsmith.learners import MultinomialNaiveBayes
from oddsmith.report import summarize, to_html

Scores = NDArray[np.float64]

REPORT = Path("oddsmith-demo.html")
_NAME = "handwritten digits"


def main(output: Path = REPORT) -> None:
    """Train a classifier, calibrate its scores by every method, show how good each is on new cases, and report."""
    X, digit = load_digits(return_X_y=True)
    y = (digit >= 5).astype(int)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    print("Handwritten digits that come with scikit-learn: is the digit 5 or more?")
    print(
        f"naive Bayes on {len(y_train)} images; log-odds from 5-fold cross-validation; judged on {len(y_test)} others\n"
    )

    out_of_fold = np.empty(len(y_train))
    for rest, fold in StratifiedKFold(5, shuffle=True, random_state=0).split(X_train, y_train):
        out_of_fold[fold] = MultinomialNaiveBayes().fit(X_train[rest], y_train[rest]).log_odds(X_train[fold])
    test = MultinomialNaiveBayes().fit(X_train, y_train).log_odds(X_test)

    table = ScoreTable.from_arrays(out_of_fold, y_train)
    print(f"{table}\n")
    print(f"{'method':<30}{'log-loss':>10}{'Brier':>9}{'errors':>8}{'fit':>10}")
    rows = [_judge(calibrator, table, test, y_test) for calibrator in _calibrators()]
    best = min(row[1] for row in rows)
    for name, log_loss, brier, errors, seconds in sorted(rows, key=lambda row: row[1]):
        mark = " <- best" if log_loss == best else "  (as the classifier says)" if name == "Squash" else ""
        print(f"{name:<30}{log_loss:>10.4f}{brier:>9.4f}{errors:>8d}{1e3 * seconds:>7.1f} ms{mark}")
    print("\nlog-loss in nats and Brier score are means per case; smaller is better.\n")
    auto = AutoCalibrator().fit_table(table)
    print("\n".join(textwrap.wrap(f"Auto: {auto.verdict_}", 110)))
    _report(table, output)
    print(f"\nThe report lies in {output}: open it in a browser.")


def _report(table: ScoreTable, output: Path) -> None:
    """Write the report; one of an earlier demo is replaced, nothing else."""
    methods = {type(each).__name__.removesuffix("Calibrator"): each for each in _calibrators()}
    page = to_html(summarize(table, methods, name=_NAME))
    old = output.is_file() and f"<title>Calibration of {_NAME}</title>" in output.read_text(errors="replace")
    write_atomically(output, page, force=old)


def _calibrators() -> list[Calibrator]:
    names = [name for name in oddsmith.__all__ if name.endswith("Calibrator") and name != "Calibrator"]
    return [getattr(oddsmith, name)() for name in names]


def _judge(
    calibrator: Calibrator, table: ScoreTable, scores: Scores, y: NDArray[np.int64]
) -> tuple[str, float, float, int, float]:
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OddsmithWarning)
        calibrator.fit_table(table)
    seconds = time.perf_counter() - start
    log_odds = calibrator.log_odds(scores)
    log_loss = float(np.mean(np.logaddexp(0, np.where(y == 1, -log_odds, log_odds))))
    prob = calibrator.predict_proba(scores)[:, 1]
    name = type(calibrator).__name__.removesuffix("Calibrator")
    return name, log_loss, float(np.mean((prob - y) ** 2)), int(np.sum(calibrator.predict(scores) != y)), seconds


if __name__ == "__main__":
    main()
