"""Judge calibrators on real data: ``python -m benchmarks.quality [two | several] [--only NAME …] [--json FILE]``.

The data are in the folder that ODDSMITH_DATA names. Without it, and with --held-out, sets that come with scikit-learn
are used: no default is chosen on these.
"""

import argparse
import json
import os
import sys
from fnmatch import fnmatchcase
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.quality.results import outcomes
from benchmarks.quality.scores import NAMES, OWN_NAMES, score_sets
from benchmarks.quality.summary import Field, against_nothing, against_reference, standings
from benchmarks.quality.tables import nothing_table, reference_table, standings_table
from benchmarks.quality.tasks import NOTHING, REPEATS, SIZES, make_tasks

#: Where the competitors are, and who is tested against the rest, for two and for several classes.
FIELDS = {
    "two": ("benchmarks.quality.competitors", "AutoCalibrator"),
    "several": ("benchmarks.quality.several", "AutoScaling"),
}

#: What must be installed for the peers and the data: a package of the extra bench, and one of cli.
NEEDED = ("betacal", "duckdb", "probcal", "splinecalib", "venn_abers")


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark and print its tables."""
    wishes = _parser().parse_args(arguments)
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        got = f"an installation without {', '.join(missing)}"
        print(
            f"The benchmark needs the extras bench and cli; got {got}. Hint: pip install '.[bench,cli]'.",
            file=sys.stderr,
        )
        return 2
    names = OWN_NAMES if wishes.held_out else NAMES
    if not wishes.held_out and not os.environ.get("ODDSMITH_DATA"):
        names = OWN_NAMES
        own = ", ".join(names[wishes.classes])
        print(f"ODDSMITH_DATA is not set: data without files take part ({own}), not those of docs/numbers.md.\n")
    module, reference = FIELDS[wishes.classes]
    reference = wishes.reference or reference
    field_of = import_module(module).competitors()
    chosen = [name for name in field_of if name == NOTHING or _matches(name, wishes.only or ["*"])]
    unknown = [p for p in [*wishes.only, *wishes.fresh] if not any(_matches(name, [p]) for name in field_of)]
    if unknown:
        print(f"no competitor is called {', '.join(unknown)}; there are {', '.join(field_of)}", file=sys.stderr)
        return 2
    with threadpool_limits(1):
        tasks = make_tasks(list(score_sets(names[wishes.classes])), wishes.sizes or SIZES[wishes.classes], wishes.seed)
        found = {name: outcomes(field_of[name], tasks, _matches(name, wishes.fresh)) for name in chosen}
    field = Field.of(tasks, found)
    sources = len(set(field.sources))
    print(f"{len(tasks)} tasks from {sources} sources of data, {len(chosen)} competitors, seed {wishes.seed}\n")
    report: dict = {"standings": standings(field, wishes.seed), "against_nothing": against_nothing(field, wishes.seed)}
    print(standings_table(report["standings"], field.sizes))
    if reference in chosen and len(chosen) > 1:
        report["reference"] = reference
        report["against_reference"] = against_reference(field, reference, wishes.seed)
        print(reference_table(report["against_reference"], reference))
    else:
        print(f"(No tests: {reference} takes no part. --reference names another.)\n")
    if report["against_nothing"]:
        print(nothing_table(report["against_nothing"]))
    if wishes.json:
        report["tasks"] = [task.key.rsplit("/", 1)[0] for task in tasks]
        report["outcomes"] = {name: [one._asdict() for one in values] for name, values in found.items()}
        wishes.json.write_text(json.dumps(report, indent=1))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks.quality", description=__doc__.split("\n")[0])
    parser.add_argument("classes", nargs="?", default="two", choices=FIELDS, help="how many classes the tasks have")
    every = "a name or a pattern such as 'probcal:*'"
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help=f"competitors that take part: {every}")
    parser.add_argument("--fresh", nargs="+", default=[], metavar="NAME", help=f"compute these again: {every}")
    parser.add_argument("--sizes", nargs="+", choices=REPEATS, help="calibration sizes")
    parser.add_argument("--held-out", action="store_true", help="judge on the sets that no default is chosen on")
    parser.add_argument("--reference", metavar="NAME", help="who is tested against the rest")
    parser.add_argument("--seed", type=int, default=0, help="seed of the drawings and of the bootstrap")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything, task by task")
    return parser


def _matches(name: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


if __name__ == "__main__":
    sys.exit(main())
