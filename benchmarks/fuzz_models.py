"""Change model files at random, make their checksums right, and see that nothing worse happens than a refusal.

``python -m benchmarks.fuzz_models --mutations 100000`` goes on where an earlier run was stopped. Mutation number i is
always the same. Whatever loads must give a probability for every finite score that it takes; whatever does not must be
refused by our own error. The same by the command line: an exit code, one line, no control characters.
"""

import argparse
import contextlib
import copy
import hashlib
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from oddsmith._check import visible
from oddsmith.atomic import write_atomically
from oddsmith.cli import main
from oddsmith.errors import ModelFileError, OddsmithError
from oddsmith.export import export, to_c, to_javascript, to_onnx, to_python, to_sql
from oddsmith.formula import evaluate
from oddsmith.model import CalibrationModel, JointModel, load

MODELS = Path(__file__).parents[1] / "tests" / "golden" / "models"

#: One mutation in so many is tried in Python, by the command line in this process, and in a process of its own.
WAYS = {"python": 1, "command": 10, "process": 2000}

NUMBERS = [
    *(0, 1, -1, 2, 0.5, -0.0, 1e-9, 5e-324, -5e-324, 2.3e-308, 1e-300, 1e-17, 1e16, 1e100, 1e200, 1e300, 1e308),
    *(1.7976931348623157e308, -1.7976931348623157e308, -1e308, 2**53, 2**63, 2**63 - 1, 10**400, 1e999, float("nan")),
]
TEXTS = [
    *("", "a\nimport os\n#", "\x1b[31m", "[/x]", "[bold]", "\u202e", "\u2028", "\0", "\ud800", "*/", "'; --", "{0}"),
    *("x" * 100, "y" * 20_000, "é", "__class__", "../../x", "nan", "Infinity", "step", "blend", "logit_input"),
]
OTHERS = [None, True, False, [], {}, [[]], [0.0], [1, 2], {"a": 1}, "1", 1.5]
DEEP = "a place for something deep"

SIZES = np.array([5e-324, *(10.0**power for power in range(-320, 309, 7)), 0.3, 0.9, 1.7976931348623157e308])
SCORES = np.concatenate([-SIZES, [0.0], SIZES, np.linspace(-5, 5, 41)])


class FoundError(AssertionError):
    """Something worse than a refusal."""


def bases() -> list[dict[str, Any]]:
    """Return the content of the models that changes begin with: of two classes and of several, old and new."""
    joint, older = sorted(MODELS.glob("joint/*.json")), sorted(MODELS.glob("several/scaling-*.json"))
    files = [*sorted(MODELS.glob("*.json")), *joint, *older]
    return [json.loads(path.read_text(encoding="utf-8")) for path in files]


def paths(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Walk over every place in parsed JSON but the outermost."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(items):
        yield (*here, key)
        yield from paths(item, (*here, key))


def mutated(models: list[dict[str, Any]], number: int) -> str:
    """Return the text of a changed model whose checksum is right."""
    rng = random.Random(number)
    content = copy.deepcopy(rng.choice(models))
    content.pop("checksum")
    depth = 0
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        depth = max(depth, _change(content, models, rng))
    return sealed(content, depth)


def _change(content: dict[str, Any], models: list[dict[str, Any]], rng: random.Random) -> int:
    """Change something; return how deep something is to be nested where text says so."""
    places = list(paths(content))
    if rng.random() < 0.4:
        return _change_number(content, [place for place in places if "map" in place or "fitted" in place], rng)
    # Numbers are most of a file: a place by its level first, so that rare ones have their turn.
    level = rng.choice(sorted({len(place) for place in places}))
    place = rng.choice([place for place in places if len(place) == level])
    holder = content
    for key in place[:-1]:
        holder = holder[key]
    key = place[-1]
    old = holder[key]
    match rng.randrange(9):
        case 0:
            del holder[key]
        case 1:
            holder[key] = copy.deepcopy(rng.choice(OTHERS))
        case 2 | 3:
            holder[key] = rng.choice(NUMBERS)
        case 4:
            holder[key] = rng.choice(TEXTS)
        case 5:
            holder[key] = DEEP
            return rng.choice((1, 5, 9, 50, 500, 20_000, 200_000))
        case 6:
            holder[key] = old * rng.choice((-1, 1e-300, 1e300, 0.999, 2)) if isinstance(old, float) else [old]
        case 7:
            other = rng.choice(models)
            inside = other.get("map", other.get("fitted"))
            holder[key] = copy.deepcopy(inside if key in ("map", "inner", "fitted") else other.get(key, inside))
        case 8 if isinstance(old, list) and old:
            rng.choice((old.reverse, lambda: rng.shuffle(old), lambda: old.append(old[0]), old.clear))()
        case _:
            if isinstance(holder, dict):
                holder[rng.choice(TEXTS)] = old
    return 0


def _change_number(content: dict[str, Any], places: list[tuple[Any, ...]], rng: random.Random) -> int:
    """Change a number of the map: a place by its name first, so that those that stand alone have their turn."""
    numbers: dict[str, list[tuple[list[Any], Any]]] = {}
    for place in places:
        holder: Any = content
        for key in place[:-1]:
            holder = holder[key]
        if type(holder[place[-1]]) in (int, float):
            numbers.setdefault([key for key in place if isinstance(key, str)][-1], []).append((holder, place[-1]))
    if numbers:
        holder, key = rng.choice(numbers[rng.choice(sorted(numbers))])
        factor = 10.0 ** rng.randrange(-300, 300)
        is_scaled = isinstance(holder[key], float) and rng.random() < 0.3
        holder[key] = holder[key] * factor if is_scaled else rng.choice(NUMBERS)
    return 0


def sealed(content: dict[str, Any], depth: int = 0) -> str:
    """Return content as a file with its checksum; something deep is put in as text, for Python could not write it."""

    def written(value: Any, **options: Any) -> str:
        return json.dumps(value, **options).replace(json.dumps(DEEP), "[" * depth + "]" * depth if depth else "0")

    digest = hashlib.sha256(written(content, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()
    return written({**content, "checksum": digest})


def load_text(text: str, folder: Path) -> CalibrationModel | JointModel:
    """Load a model of any kind and age from its text."""
    path = folder / "mutated.json"
    path.write_text(text, encoding="utf-8")
    return load(path)


def by_python(text: str, folder: Path, *, exports: bool) -> str:
    """Load a model and use it; return what came of it."""
    try:
        model = load_text(text, folder)
    except ModelFileError as error:
        if len(str(error)) > 2000 or not str(error).isprintable():
            msg = f"an error that cannot be shown: {str(error)[:100]!r}"
            raise FoundError(msg) from error
        return "refused"
    parts = [model, *model.segments.values()] if isinstance(model, CalibrationModel) else [model]
    for part in parts:
        _use(part)
        if exports:
            _write(part)
    if load_text(model.to_json(), folder) != model:
        msg = "another model after saving"
        raise FoundError(msg)
    return "harmless"


def _use(model: CalibrationModel | JointModel) -> None:
    if isinstance(model, JointModel):
        _use_joint(model)
        return
    within = SCORES[(SCORES > 0) & (SCORES < 1)]
    for scores in (SCORES, within):
        with contextlib.suppress(OddsmithError):
            p, log_odds = model.map.probability(scores), model.map.log_odds(scores)
            if not p.shape == log_odds.shape == scores.shape:
                msg = f"{p.shape} probabilities of {scores.shape} scores"
                raise FoundError(msg)
            if np.isnan(log_odds).any() or not np.all((p >= 0) & (p <= 1)):
                msg = f"no probability of finite scores: {p[~((p >= 0) & (p <= 1))]}"
                raise FoundError(msg)
            if np.isnan(evaluate(model.map.probability_formula(), scores)).any():
                msg = "a formula without a value for a finite score"
                raise FoundError(msg)


def _use_joint(model: JointModel) -> None:
    """See that rows of every size have probabilities that sum to 1."""
    scores = SCORES[(SCORES >= 0) & (SCORES <= 1)] if model.map.input == "probabilities" else SCORES
    rows = np.resize(scores, (len(scores), model.map.columns + 1))[:, : model.map.columns]  # of all sizes, mixed
    p, logs = model.map.probability(rows), model.map.log_probability(rows)
    if p.shape != (len(rows), len(model.labels)):
        msg = f"{p.shape} probabilities of {len(rows)} rows and {len(model.labels)} classes"
        raise FoundError(msg)
    if np.isnan(logs).any() or not np.all((p >= 0) & (p <= 1 + 1e-9)) or np.abs(p.sum(axis=1) - 1).max() > 1e-6:
        msg = f"no probabilities of finite rows: {p[np.abs(p.sum(axis=1) - 1) > 1e-6][:3]}"
        raise FoundError(msg)


def _write(model: CalibrationModel | JointModel) -> None:
    if isinstance(model, JointModel):
        for language in ("sql", "python", "javascript", "c", "onnx"):
            with contextlib.suppress(OddsmithError):
                export(model, language)
        return
    plain = CalibrationModel(
        model.method, model.parameters, model.map, model.data, model.warnings, model.version, model.labels
    )
    writers: list[Callable[[CalibrationModel], object]] = [to_python, to_javascript, to_c, to_onnx]
    for write in (*writers, *(lambda m, d=d: to_sql(m, dialect=d) for d in ("duckdb", "sqlite", "postgres"))):
        with contextlib.suppress(OddsmithError):
            write(plain)


def by_command(text: str, number: int, folder: Path) -> str:
    """Give a model to the command line, in this process; return what came of it."""
    command = _command(text, number, folder)
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors), contextlib.suppress(SystemExit):
        code: Any = None
        try:
            main(command)
        except SystemExit as left:
            code = left.code
    return _judged(command, code, out.getvalue(), errors.getvalue())


def by_process(text: str, number: int, folder: Path) -> str:
    """Give a model to the command line, in a process of its own; return what came of it."""
    command = _command(text, number, folder)
    code = "from oddsmith.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, *command], capture_output=True, check=False, timeout=300)
    return _judged(command, done.returncode, done.stdout.decode(), done.stderr.decode())


def _command(text: str, number: int, folder: Path) -> list[str]:
    path, scores = folder / "model.json", folder / "scores.csv"
    path.write_text(text, encoding="utf-8")
    columns = [*(f"logit_{name}" for name in ("cat", "dog", "hare")), "score", "region"]
    rows = ["0.25,0.5,0.25,0.25,nord", "0.5,0.25,0.25,0.5,a", "0.5,0,0.5,0.75,süd"]
    scores.write_text("\n".join([",".join(columns), *rows]) + "\n")
    language = random.Random(number + 1).choice(["sql", "onnx", "python", "javascript", "c"])
    kind = random.Random(-number).choice(["show", "show", "show", "json", "json", "apply", language])
    if kind in ("show", "json"):
        return ["show", str(path), *(["--json"] if kind == "json" else [])]
    if kind == "apply":
        return ["apply", str(path), str(scores), "-o", str(folder / "out.csv"), "--force"]
    return ["export", str(path), "--to", kind, "-o", str(folder / "out"), "--force"]


def _judged(command: list[str], code: object, out: str, errors: str) -> str:
    said = out + errors
    wrong = any(words in said for words in ("Traceback", "should not happen", "RuntimeWarning"))
    if code not in (0, 2) or wrong or visible(said, keep="\n") != said or (command[0] == "show" and "NaN" in out):
        msg = f"{command[0]} ended with {code}: {said[-300:]!r}"
        raise FoundError(msg)
    if command[0] == "apply" and code == 0 and "nan" in Path(command[4]).read_text():
        msg = "apply wrote NaN"
        raise FoundError(msg)
    return f"{command[0]} {'done' if code == 0 else 'refused'}"


def fuzz(
    numbers: range, folder: Path, told: Callable[[int, str, str], None], ways: Collection[str] = tuple(WAYS)
) -> None:
    """Try mutations in some ways; tell the number of each, what came of it, and what was wrong if anything was."""
    models = bases()
    for number in numbers:
        turns = [way for way in ways if number % WAYS[way] == 0]
        text = mutated(models, number) if turns else ""
        for way in turns:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                try:
                    told(number, f"{way}: {_try(way, text, number, folder)}", "")
                except Exception as error:
                    told(number, "failed", f"{type(error).__name__}: {str(error)[:300]}")


def _try(way: str, text: str, number: int, folder: Path) -> str:
    if way == "python":
        return by_python(text, folder, exports=number % 20 == 0)
    return (by_command if way == "command" else by_process)(text, number, folder)


def run() -> int:
    """Run, from where an earlier run was stopped."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutations", type=int, default=100_000)
    parser.add_argument("--start", type=int, default=0, help="number of the first one")
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--state", type=Path, default=Path("fuzz_models.json"), help="what was done, to go on from")
    parser.add_argument("--every", type=int, default=1000, help="mutations between two notes of it")
    chosen = parser.parse_args()
    state = {"done": chosen.start, "counts": {}, "failures": []}
    if chosen.state.exists():
        state = json.loads(chosen.state.read_text())
    counts, failures = Counter(state["counts"]), state["failures"]

    def told(number: int, outcome: str, why: str) -> None:
        counts[outcome] += 1
        if why:
            failures.append([number, why])
            print(number, why, flush=True)

    with tempfile.TemporaryDirectory() as folder:
        for start in range(state["done"], chosen.mutations, chosen.every):
            stop = min(start + chosen.every, chosen.mutations)
            fuzz(range(start, stop), Path(folder), told, chosen.ways)
            note = {"done": stop, "counts": counts, "failures": failures}
            write_atomically(chosen.state, json.dumps(note, indent=1), force=True)
    print(f"mutations {chosen.start:,} to {chosen.mutations:,}")
    for what, times in sorted(counts.items()):
        print(f"  {what:<28}{times:>9,}")
    return 1 if failures else 0


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "100")
    sys.exit(run())
