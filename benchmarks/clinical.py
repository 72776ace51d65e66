"""How often the bands of the clinical sheet contain what they promise: ``python -m benchmarks.clinical``.

Per setting and number of cases: the share of samples in which the 95 % calibration belt of a calibrated forecast
contains the diagonal everywhere, in which the 95 % band of the difference in net benefit of two forecasts contains the
true differences at all thresholds, and of pointwise 95 % intervals of net benefit that contain the true one.
"""

import argparse

import numpy as np
from scipy.special import expit

from oddsmith.metrics import calibration_belt, compare_net_benefit, decision_curve

#: Log-odds of the true probabilities: in the middle, rare and skewed, a booster's, heavy tails.
SETTINGS = {
    "middle": lambda rng, n: rng.normal(-0.5, 1.2, n),
    "rare": lambda rng, n: rng.normal(-3.5, 1.0, n),
    "skewed": lambda rng, n: np.log(np.maximum(rng.beta(0.5, 4, n), 1e-9)) - np.log1p(-rng.beta(0.5, 4, n)),
    "tails": lambda rng, n: np.clip(1.2 * rng.standard_t(3, n) - 1, -12, 12),
}
SIZES = (400, 2000)
THRESHOLDS = np.arange(1, 20) / 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=2000)
    chosen = parser.parse_args()
    for name, draw in SETTINGS.items():
        population = draw(np.random.default_rng(1), 400_000)
        p, q = expit(population), expit(0.6 * population - 0.4)
        value = p[:, None] - (1 - p[:, None]) * THRESHOLDS / (1 - THRESHOLDS)
        first, second = ((forecast[:, None] >= THRESHOLDS) for forecast in (p, q))
        benefit, truth = (value * first).mean(axis=0), (value * (first.astype(float) - second)).mean(axis=0)
        for n in SIZES:
            belts = bands = inside = known = left_out = 0
            for sample in range(chosen.samples):
                rng = np.random.default_rng([sample, n])
                at = rng.integers(0, len(p), n)
                y = (rng.random(n) < p[at]).astype(int)
                if min(y.sum(), n - y.sum()) < 5:
                    left_out += 1
                    continue
                belts += not calibration_belt(y, p[at], levels=(0.95,)).outside(0.95)
                found = compare_net_benefit(y, p[at], q[at], thresholds=THRESHOLDS)
                bands += not ((truth < found.low - 1e-12) | (truth > found.high + 1e-12)).any()
                curve = decision_curve(y, p[at], thresholds=THRESHOLDS)
                has = np.isfinite(curve.low)
                known += has.sum()
                inside += ((benefit >= curve.low) & (benefit <= curve.high))[has].sum()
            used = chosen.samples - left_out
            error = np.sqrt(0.05 * 0.95 / used)
            print(
                f"{name:7} n={n:5} {used:,} samples: belt {belts / used:.1%}, band of the difference "
                f"{bands / used:.1%} (± {error:.1%}), net benefit {inside / max(known, 1):.1%}",
                flush=True,
            )


if __name__ == "__main__":
    main()
