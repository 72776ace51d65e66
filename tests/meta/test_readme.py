"""What the README shows is what happens."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import LinearSVC

from oddsmith import ScoreTable
from samples import ours_allowed

README = (Path(__file__).parents[2] / "README.md").read_text()


def test_the_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    scores = rng.normal(size=300)
    y = (rng.random(300) < 1 / (1 + np.exp(-scores))).astype(int)
    X, X_new = scores[:, None] + rng.normal(size=(300, 3)), rng.normal(size=(5, 3))
    days = {"monday": ScoreTable.from_arrays(scores, y), "tuesday": ScoreTable.from_arrays(scores[::2], y[::2])}
    names = {"scores": scores, "new_scores": scores[:5], "y": y, "X": X, "X_new": X_new, "LinearSVC": LinearSVC, **days}
    names |= {"RandomForestClassifier": RandomForestClassifier, "X_train": X[:150], "y_train": y[:150]}
    names |= {"X_held_out": X[150:], "y_held_out": y[150:]}
    rows = pd.DataFrame({"score": scores, "label": y})
    names |= {"rows": rows, "new_rows": rows[["score"]]}
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) >= 3
    with ours_allowed():
        for block in blocks:
            exec(block, names)
    assert names["p"].shape == (5,)
