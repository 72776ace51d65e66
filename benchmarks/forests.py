"""Random forests: our protocols against scikit-learn's default, by log-loss on new rows.

``python -m benchmarks.forests`` prints the mean log-loss of each data set over five splits.
"""

import sys
import warnings
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from benchmarks.quality.sets import SETS, SEVERAL
from oddsmith.classify import CalibratedClassifier

_SPLITS = 5
_MOST_TRAINING_ROWS = 2000
_MOST_TEST_ROWS = 4000

Rows = tuple[np.ndarray, np.ndarray]


class Forest(RandomForestClassifier):
    """A forest that is grown once for the same rows, whichever model needs it."""

    grown: ClassVar[dict[bytes, RandomForestClassifier]] = {}

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Forest":
        """Grow the forest, or take the one that these rows have grown before."""
        key = blake2b(X.tobytes() + y.tobytes()).digest()
        if key not in self.grown:
            self.grown[key] = super().fit(X, y)
        self.__dict__.update(self.grown[key].__dict__)
        return self


def _cancer() -> Rows:
    return load_breast_cancer(return_X_y=True)


def _named(name: str) -> Rows:
    rows = (SETS | SEVERAL)[name]()
    return rows.X, rows.y


DATA: dict[str, Callable[[], Rows]] = {
    "breast_cancer": _cancer,
    "digits": lambda: _named("digits.all"),
    "adult": lambda: _named("adult"),
    "letter": lambda: _named("letter.p2"),
    "phishing": lambda: _named("phishing"),
    "covtype": lambda: _named("covtype"),
}

MODELS: dict[str, Callable[[Forest], Any]] = {
    "scikit-learn, sigmoid": lambda forest: CalibratedClassifierCV(forest, method="sigmoid"),
    "scikit-learn, isotonic": lambda forest: CalibratedClassifierCV(forest, method="isotonic"),
    "sigmoid": lambda forest: CalibratedClassifier(forest, "sigmoid"),
    "isotonic": lambda forest: CalibratedClassifier(forest, "isotonic"),
    "auto": lambda forest: CalibratedClassifier(forest),
    "sigmoid, ensemble=True": lambda forest: CalibratedClassifier(forest, "sigmoid", ensemble=True),
    "sigmoid, ensemble=False": lambda forest: CalibratedClassifier(forest, "sigmoid", ensemble=False),
    "isotonic, ensemble=False": lambda forest: CalibratedClassifier(forest, "isotonic", ensemble=False),
    "auto, ensemble=False": lambda forest: CalibratedClassifier(forest, ensemble=False),
}


def losses(X: np.ndarray, y: np.ndarray, split: int) -> dict[str, float]:
    """Return the log-loss of each model on new rows of one split."""
    train = min(_MOST_TRAINING_ROWS, round(0.6 * len(y)))
    test = min(_MOST_TEST_ROWS, len(y) - train)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, train_size=train, test_size=test, random_state=split, stratify=y
    )
    found = {}
    Forest.grown.clear()
    for model_name, make in MODELS.items():
        model = make(Forest(100, random_state=split, n_jobs=1)).fit(X_train, y_train)
        found[model_name] = log_loss(y_test, model.predict_proba(X_test))
    return found


def main(folder: Path | None = None) -> None:
    """Print mean log-losses × 10³; results of single splits are kept in a folder, if one is given."""
    warnings.simplefilter("ignore")
    table = np.full((len(DATA), _SPLITS, len(MODELS)), np.nan)
    for row, (name, load) in enumerate(DATA.items()):
        X, y = load()
        for split in range(_SPLITS):
            stored = None if folder is None else folder / f"{name}-{split}.npy"
            if stored is not None and stored.exists():
                table[row, split] = np.load(stored)
                continue
            table[row, split] = list(losses(X, y, split).values())
            if stored is not None:
                np.save(stored, table[row, split])
    print(f"{'log-loss × 10³':<26}" + "".join(f"{name[:9]:>10}" for name in DATA) + f"{'mean':>10}")
    for column, name in enumerate(MODELS):
        means = 1e3 * table[:, :, column].mean(axis=1)
        print(f"{name:<26}" + "".join(f"{value:10.1f}" for value in [*means, means.mean()]))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
