"""Cut-offs with a guarantee, ours and MAPIE's, on the same rows: ``python -m benchmarks cutoffs``.

Rows are drawn with a known P. For precision more selected rows are better; for recall fewer, and for the false-positive
rate more. MAPIE tries the thresholds 0, 0.01, …, 0.99 of P by Bonferroni and Holm, its default, or by a fixed sequence
from the largest down. Selected shares are means over the repetitions; a method that selects nothing has 0 (for recall,
which must select, all rows).
"""

import warnings
from importlib.util import find_spec

import numpy as np
from scipy.special import expit

from oddsmith import ScoreTable
from oddsmith.cutoffs import threshold

ROWS, REPETITIONS = 10_000, 30
METHODS = ("bonferroni_holm", "fixed_sequence")
TARGETS = {"precision": (0.8, 0.9, 0.95, 0.99), "recall": (0.8, 0.9, 0.95), "fpr": (0.05, 0.1)}


def mapie_share(goal: str, target: float, prob: np.ndarray, y: np.ndarray, method: str) -> float:
    """Return the share of rows that MAPIE's cut-off selects."""
    from mapie.risk_control import BinaryClassificationController

    controller = BinaryClassificationController(
        lambda rows: np.column_stack([1 - rows[:, 0], rows[:, 0]]),
        goal,
        target,
        0.95,
        list_predict_params=np.linspace(0, 0.99, 100) if goal == "recall" else np.linspace(0.99, 0, 100),
        fwer_method=method,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        controller.calibrate(prob[:, None], y.astype(int))
    best = controller.best_predict_param
    if best is None:
        return 1.0 if goal == "recall" else 0.0
    return float(np.mean(prob >= best))


def cutoffs() -> None:
    """Print the selected shares."""
    if find_spec("mapie") is None:
        print("MAPIE is not installed: nothing to compare with")
        return
    print(f"| guarantee, {ROWS:,} rows | ours | MAPIE default | MAPIE fixed sequence |\n|---|---|---|---|")
    for goal, targets in TARGETS.items():
        for target in targets:
            shares = []
            for number in range(REPETITIONS):
                rng = np.random.default_rng([number, ROWS])
                prob = expit(4.0 * rng.normal(size=ROWS))
                y = rng.random(ROWS) < prob
                found = threshold(ScoreTable.from_arrays(prob, y), **{goal: target})
                nothing = 1.0 if goal == "recall" else 0.0
                ours = nothing if found.cut is None else found.selected / found.rows
                shares.append([ours, *(mapie_share(goal, target, prob, y, method) for method in METHODS)])
            print(f"| {goal} {target} | " + " | ".join(f"{share:.4f}" for share in np.mean(shares, axis=0)) + " |")
