"""How long the library and its command line take to start, as shares of ``import sklearn.base`` in the same run."""

import os
import resource
import statistics
import subprocess
import sys

from benchmarks.core import start as start_library

_PROGRAM = "from oddsmith.cli import main; main()"

#: Arguments and environment of each command, and its bar.
_COMMANDS = {
    "oddsmith --version": (["--version"], {}, 0.33),
    "oddsmith --help": (["--help"], {}, 0.33),
    "completing oddsmith f": (
        [],
        {"_ODDSMITH_COMPLETE": "complete_bash", "COMP_WORDS": "oddsmith f", "COMP_CWORD": "1"},
        0.33,
    ),
    "completing oddsmith fit --s": (
        [],
        {"_ODDSMITH_COMPLETE": "complete_bash", "COMP_WORDS": "oddsmith fit --s", "COMP_CWORD": "2"},
        0.33,
    ),
}


def start() -> None:
    """Time imports, first calls and the first answer of the command line."""
    start_library()
    print("\nCommand line, processor time of the whole process")
    base = _seconds("import sklearn.base", [], {})
    print(f"  {'import sklearn.base':<32}{base:>8.3f} s")
    for what, (arguments, environment, bar) in _COMMANDS.items():
        ours = _seconds(_PROGRAM, arguments, environment)
        verdict = "met" if ours <= bar * base else "missed"
        print(f"  {what:<32}{ours:>8.3f} s: ratio {ours / base:.3f}  bar ≤ {bar:g} {verdict}", flush=True)


def _seconds(code: str, arguments: list[str], environment: dict[str, str], times: int = 5) -> float:
    """Return the median processor time of a fresh interpreter, in seconds."""
    taken = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env=os.environ | environment,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return statistics.median(taken)
