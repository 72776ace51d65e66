"""Run the benchmarks: ``python -m benchmarks [name ...]``, one thread, with the compiled loops and without."""

import os
import subprocess
import sys

ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
#: Where each benchmark is.
MODULES = {
    **dict.fromkeys(("million", "kinds", "thousand", "growth", "memory"), "core"),
    "classify": "classify",
    "cutoffs": "cutoffs",
    "learners": "learners",
    "peers": "peers",
    "scale": "scale",
    "scaling": "scaling",
    "start": "start",
}


def main() -> int:
    chosen = sys.argv[1:] or list(MODULES)
    unknown = set(chosen) - set(MODULES)
    if unknown:
        print(f"unknown benchmark {', '.join(sorted(unknown))}; there are {', '.join(MODULES)}", file=sys.stderr)
        return 2
    for name in chosen:
        for compiled in ("1", "0") if name in ("million", "kinds") else ("1",):
            environment = {**os.environ, **ONE_THREAD, "ODDSMITH_COMPILED": compiled}
            code = f"from benchmarks import {MODULES[name]} as b; b.{name}()"
            if subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
