"""Run the benchmarks: ``python -m benchmarks [name ...]``, one thread, with the compiled loops and without."""

import os
import subprocess
import sys

ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
NAMES = ("million", "kinds", "thousand", "growth", "memory", "start", "classify")


def main() -> int:
    chosen = sys.argv[1:] or NAMES
    unknown = set(chosen) - set(NAMES)
    if unknown:
        print(f"unknown benchmark {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}", file=sys.stderr)
        return 2
    for name in chosen:
        for compiled in ("1", "0") if name in ("million", "kinds") else ("1",):
            environment = {**os.environ, **ONE_THREAD, "ODDSMITH_COMPILED": compiled}
            code = f"from benchmarks import {'classify' if name == 'classify' else 'core'} as b; b.{name}()"
            if subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode:
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
