"""The whole idea in a minute, on data that come with scikit-learn: ``python -m oddsmith.demo``."""

import time
import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, train_test_split

import oddsmith
from oddsmith import Calibrator, ScoreTable
from oddsmith.errors import OddsmithWarning
from oddsmith.learners import MultinomialNaiveBayes

Scores = NDArray[np.float64]


def main() -> None:
    """Train a classifier, calibrate its scores by every method, and show how good each is on new cases."""
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
    print("\nlog-loss in nats and Brier score are means per case; smaller is better.")


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
