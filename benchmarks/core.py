"""The core: tables, calibrators and maps against scikit-learn and probcal."""

import compileall
import os
import statistics
import subprocess
import sys
import tempfile
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
from sklearn.calibration import _SigmoidCalibration
from sklearn.isotonic import IsotonicRegression

import oddsmith
from benchmarks.measure import best_of, header, report, scores_of_kind
from oddsmith import ScoreTable
from oddsmith.maps import LinearMap

COMPILED = os.environ.get("ODDSMITH_COMPILED") != "0"
MODE = "with the compiled loops" if COMPILED else "NumPy only"
#: The calibrators of the five documents.
CALIBRATORS = [
    f"{name}Calibrator"
    for name in (
        "AsymmetricGaussian",
        "AsymmetricLaplace",
        "Cosine",
        "Density",
        "Gaussian",
        "Hybrid",
        "Isotonic",
        "Laplace",
        "Logistic",
        "LogisticCorrection",
        "MinMax",
        "PiecewiseLogistic",
        "Platt",
        "Squash",
    )
]


def fit(name, scores, y):
    return lambda: getattr(oddsmith, name)().fit(scores, y)


def million() -> None:
    """Time whole fits from arrays of one million continuous scores."""
    import probcal

    scores, y = scores_of_kind("continuous", 10**6)
    prob = 1 / (1 + np.exp(-scores))
    header(f"One million continuous scores, {MODE}", "peer ms")
    sigmoid = best_of(lambda: _SigmoidCalibration().fit(scores, y))
    ours = best_of(fit("PlattCalibrator", scores, y))
    report("Platt against scikit-learn's sigmoid", ours, sigmoid, sigmoid / ours, 60 if COMPILED else 35)
    isotonic = IsotonicRegression(out_of_bounds="clip")
    peer, ours = best_of(lambda: isotonic.fit(scores, y)), best_of(fit("IsotonicCalibrator", scores, y))
    report("isotonic against scikit-learn", ours, peer, peer / ours, 10 if COMPILED else 2.5)
    peer = best_of(lambda: probcal.IsotonicCalibrator().fit(prob, y), 2)
    report("isotonic against probcal", ours, peer, peer / ours, 40 if COMPILED else 12)
    cal = oddsmith.IsotonicCalibrator().fit(scores, y)
    assert isinstance(cal.map_, LinearMap)
    peer, ours = best_of(lambda: isotonic.predict(scores)), best_of(lambda: cal.map_.probability(scores))
    report("applying an isotonic map", ours, peer, peer / ours, 6)
    table_time = best_of(lambda: ScoreTable.from_arrays(scores, y))
    bars = {"AsymmetricLaplace": 1.5, "AsymmetricGaussian": 2.5, "Hybrid": 3.0, "PiecewiseLogistic": 4.5}
    for name, bar in bars.items():
        ours = best_of(fit(f"{name}Calibrator", scores, y))
        report(f"{name}, as a multiple of building the table", ours, table_time, ours / table_time, bar, at_least=False)
    table = ScoreTable.from_arrays(scores, y)

    def fit_all() -> None:
        for name in CALIBRATORS:
            getattr(oddsmith, name)().fit_table(table)

    ours = best_of(fit_all, 3)
    report(
        f"all {len(CALIBRATORS)} calibrators from one table, share of a sigmoid",
        ours,
        sigmoid,
        ours / sigmoid,
        0.5,
        False,
    )


def kinds() -> None:
    """Repeat it on other kinds of scores, with bars half as high; heavy tails at least 15 for Platt."""
    for kind in ("clustered", "discrete", "probability", "sorted", "reversed", "rare", "heavy tails"):
        scores, y = scores_of_kind(kind, 10**6)
        header(f"One million {kind} scores, {MODE}", "peer ms")
        sigmoid = best_of(lambda s=scores, t=y: _SigmoidCalibration().fit(s, t), 3)
        ours = best_of(fit("PlattCalibrator", scores, y))
        bar = 15 if kind == "heavy tails" else 30 if COMPILED else 17.5
        report("Platt against scikit-learn's sigmoid", ours, sigmoid, sigmoid / ours, bar)
        print(f"  {'distance from the optimum, share of the slope':<54}{_distance(scores, y):>10.1e}  bar ≤ 1e-10")
        peer = best_of(lambda s=scores, t=y: IsotonicRegression(out_of_bounds="clip").fit(s, t), 3)
        ours = best_of(fit("IsotonicCalibrator", scores, y))
        report("isotonic against scikit-learn", ours, peer, peer / ours, 5 if COMPILED else 1.25)
        table = best_of(lambda s=scores, t=y: ScoreTable.from_arrays(s, t))
        for name, limit in (
            ("AsymmetricLaplace", 3),
            ("AsymmetricGaussian", 5),
            ("Hybrid", 6),
            ("PiecewiseLogistic", 9),
        ):
            ours = best_of(fit(f"{name}Calibrator", scores, y), 3)
            report(f"{name}, as a multiple of building the table", ours, table, ours / table, limit, at_least=False)


def _distance(scores, y) -> float:
    """Return the Newton step that is left at the answer, by sums of extended precision."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = oddsmith.PlattCalibrator().fit(scores, y)
    line, (plus, minus) = fitted.map_, fitted.targets_
    x = ((scores - line.origins[0]) / line.scale).astype(np.longdouble)
    intercept, slope, _ = line.coefficients[0]
    with np.errstate(over="ignore"):
        p = 1 / (1 + np.exp(-(slope * x + intercept)))
    residual, h = p - np.where(y == 1, plus, minus), p * (1 - p)
    gradient = np.array([np.sum(residual * x), np.sum(residual)], dtype=float)
    hessian = np.array([[np.sum(h * x * x), np.sum(h * x)], [np.sum(h * x), np.sum(h)]], dtype=float)
    return float(abs(np.linalg.solve(hessian, gradient)[0] / slope))


def thousand() -> None:
    """Time a thousand scores, where overhead counts."""
    scores, y = scores_of_kind("continuous", 1000)
    header("One thousand scores", "sigmoid ms")
    sigmoid = best_of(lambda: _SigmoidCalibration().fit(scores, y), 200)
    isotonic = best_of(lambda: IsotonicRegression(out_of_bounds="clip").fit(scores, y), 200)
    for name in CALIBRATORS:
        ours = best_of(fit(name, scores, y), 5 if name == "PiecewiseLogisticCalibrator" else 200)
        bar = {"PlattCalibrator": 1 / 3, "PiecewiseLogisticCalibrator": float("nan")}.get(name, 1.0)
        report(f"{name}, share of scikit-learn's sigmoid", ours, sigmoid, ours / sigmoid, bar, at_least=False)
    ours = best_of(fit("IsotonicCalibrator", scores, y), 200)
    report("isotonic, share of scikit-learn's isotonic", ours, isotonic, ours / isotonic, 0.5, at_least=False)


def growth() -> None:
    """Show cost against n log n, from 10⁴ to 10⁷."""
    sizes = [10**4, 10**5, 10**6, 10**7]
    header("Time by size, as a multiple of n log n at 10⁶ (bar: within 2 above it)", "")
    data = {n: scores_of_kind("continuous", n) for n in sizes}
    for name in ["ScoreTable", *CALIBRATORS]:
        times = []
        for n in sizes:
            make = (lambda n=n: ScoreTable.from_arrays(*data[n])) if name == "ScoreTable" else fit(name, *data[n])
            times.append(best_of(make, 2 if n == 10**7 else 3))
        per = [t / (n * np.log(n)) for t, n in zip(times, sizes, strict=True)]
        shown = "".join(f"{value / per[2]:>8.2f}" for value in per)
        print(f"  {name:<34}" + "".join(f"{1e3 * t:>10.1f}" for t in times) + f"  | {shown}", flush=True)


def memory() -> None:
    """Show extra peak memory at 10⁷ scores, as a multiple of the input arrays."""
    scores, y = scores_of_kind("continuous", 10**7)
    size = scores.nbytes + y.nbytes
    print(f"\nExtra peak memory at 10⁷ scores, as a multiple of the input ({size / 1e6:.0f} MB); bar ≤ 2")
    for name in ["ScoreTable", *CALIBRATORS]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tracemalloc.start()
            ScoreTable.from_arrays(scores, y) if name == "ScoreTable" else fit(name, scores, y)()
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        print(f"  {name:<34}{peak / size:>8.2f}{'  met' if peak <= 2 * size else '  missed'}", flush=True)


def start() -> None:
    """Time an import, and the first calls on a new installation."""
    print("\nImport and first call")
    # As installers leave a package: with its byte code, wherever this one was run without writing it.
    compileall.compile_dir(Path(oddsmith.__file__).parent, quiet=1)
    base, ours = (
        statistics.median(_seconds(f"import {name}") for _ in range(9)) for name in ("sklearn.base", "oddsmith")
    )
    verdict = "met" if ours <= 0.25 * base else "missed"
    print(f"  import sklearn.base {base:.3f} s, oddsmith {ours:.3f} s: ratio {ours / base:.3f}  bar ≤ 0.25 {verdict}")
    prepare = (
        "import time, warnings, numpy as np, oddsmith, sklearn.base; warnings.simplefilter('ignore');"
        "r = np.random.default_rng(0); s = r.normal(size=50000);"
        "y = (r.random(50000) < 1 / (1 + np.exp(-s))).astype(int);"
        "start = time.perf_counter();"
    )
    calls = {
        "table and isotonic": ("oddsmith.IsotonicCalibrator().fit(s, y)", 2.0),
        "all": (f"[getattr(oddsmith, n)().fit(s, y) for n in {CALIBRATORS}]", 4.0),
    }
    for what, (call, bar) in calls.items():
        taken = []
        for _ in range(3):
            with tempfile.TemporaryDirectory() as cache:  # where nothing was compiled before
                code = f"{prepare}{call};print(time.perf_counter() - start)"
                environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
                found = subprocess.run(
                    [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
                )
                taken.append(float(found.stdout))
        verdict = "met" if min(taken) <= bar else "missed"
        print(f"  first call, {what}: {min(taken):.2f} s  bar ≤ {bar:g} s {verdict}")


def _seconds(code: str) -> float:
    timed = f"import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"
    return float(subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True).stdout)
