"""Numbers of Python packages for the rows of clinical.R: ``python fields.py`` updates fields.json.

Run once where model-diagnostics 1.5.0 and lir 1.3.1 are installed, and once where mcgrad 0.1.5 is.
"""

import json
from pathlib import Path

import numpy as np


def main() -> None:
    """Compute what the installed packages have, and write all."""
    i = np.arange(1, 301)
    odds = np.round(4 * np.sin(i * 1.7) * np.cos(i * 0.31) - 1.2, 4)
    p = np.round(1 / (1 + np.exp(-odds)), 6)
    y = (1 / (1 + np.exp(0.3 - 0.7 * odds)) > (i * 0.6180339887) % 1).astype(int)
    path = Path(__file__).with_name("fields.json")
    found = json.loads(path.read_text()) if path.exists() else {}
    try:
        from lir.data.models import LLRData
        from lir.metrics import cllr, cllr_min
        from model_diagnostics.scoring import ElementaryScore, LogLoss, SquaredError, decompose

        at = [0.1, 0.3, 0.5, 0.7]
        found["elementary"] = {"at": at, "score": [float(ElementaryScore(eta=e, functional="mean")(y, p)) for e in at]}
        for name, score in {"squared": SquaredError(), "log": LogLoss()}.items():
            row = decompose(y, p, scoring_function=score, functional="mean").to_dicts()[0]
            found[name] = {
                part: float(row[part]) for part in ("miscalibration", "discrimination", "uncertainty", "score")
            }
        share = y.mean()
        ratio = np.log10(p / (1 - p) * (1 - share) / share)
        llrs = LLRData(features=ratio.reshape(-1, 1), labels=y)
        found["cllr"], found["cllr_min"] = float(cllr(llrs)), float(cllr_min(llrs))
    except ImportError:
        pass
    try:
        import pandas as pd
        from mcgrad.metrics import MulticalibrationError

        rows = pd.DataFrame({"p": p, "y": y, "a": (i % 3).astype(str), "b": (i % 2).astype(str)})
        made = MulticalibrationError(
            rows,
            "y",
            "p",
            categorical_segment_columns=["a", "b"],
            max_depth=2,
            max_values_per_segment_feature=10,
            min_samples_per_segment=50,
            precision_dtype="float64",
        )
        names = ("mce", "mce_sigma", "mce_pvalue", "global_ecce", "global_ecce_sigma")
        found["mcgrad"] = {name: float(getattr(made, name)) for name in names}
    except ImportError:
        pass
    path.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
