"""False alarms of an audit: how often calibrated probabilities are called off in some of 200 equal segments.

``python -m benchmarks.audit`` runs 3,000 samples per setting and prints the share with an alarm, its standard error,
and the smallest corrected p-values. Samples are numbered, so that a part can be run by ``--first`` and ``--samples``.
"""

import argparse

import numpy as np
import pandas as pd

from oddsmith.audit import audit

SEGMENTS, ROWS = 200, 60

#: What probabilities look like: rare and skewed, in the middle, of overconfident networks.
SETTINGS = {
    "rare": lambda rng, n: rng.beta(0.5, 30, n),
    "skewed": lambda rng, n: rng.beta(0.5, 6, n),
    "middle": lambda rng, n: rng.beta(3, 3, n),
    "extreme": lambda rng, n: 1 / (1 + np.exp(-rng.normal(-4, 4, n))),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=3000)
    parser.add_argument("--first", type=int, default=0)
    chosen = parser.parse_args()
    group = np.repeat(np.arange(SEGMENTS).astype(str), ROWS)
    for name, draw in SETTINGS.items():
        alarms = 0
        for sample in range(chosen.first, chosen.first + chosen.samples):
            rng = np.random.default_rng([sample, len(name)])
            p = draw(rng, len(group))
            label = (rng.random(len(p)) < p).astype(int)
            if label.min() == label.max():
                continue
            rows = pd.DataFrame({"segment": group, "probability": p, "label": label})
            alarms += bool(audit(rows, "segment").significant)
        share = alarms / chosen.samples
        error = np.sqrt(share * (1 - share) / chosen.samples)
        print(f"{name:8} {chosen.samples:,} samples, alarms {share:.2%} ± {error:.2%}", flush=True)


if __name__ == "__main__":
    main()
