"""The page of the summary."""

from itertools import product

import numpy as np

from oddsmith.checks import Bools
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies._tables import written
from oddsmith_studies.studies.summary.figures import winner
from oddsmith_studies.studies.summary.measured import Field, Loss, collect
from oddsmith_studies.studies.summary.methods import AUTO, KINDS, RAW, find_methods, kind_of
from oddsmith_studies.studies.summary.parts import FEWEST
from oddsmith_studies.studies.summary.tables import best_of, by_regret, groups_of, worse_than_raw


def all_remarks(results: Results) -> dict[str, str]:
    """Return the answer, what it does not tell, and the page below it."""
    field = collect(results)
    return {
        "answer": f"{_answer(field, by_regret(field))} {_new(field)}",
        "unchecked": "Data sets that the default was not developed on: no source here is new to it (the table of "
        "problems says which problems are). Calibrators have their defaults and classifiers fast settings.",
        "body": _body(results),
    }


def _new(field: Field) -> str:
    """Say how the default does on problems that it was developed on, and on others."""
    regret, seen = field.regret(), field.developed_on
    if seen.all() or not seen.any():
        return ""
    place = {}
    for name, where in (("developed on", seen), ("others", ~seen)):
        means = regret[where].mean(axis=0)
        place[name] = int((means < means[field.column(AUTO)]).sum()) + 1
    problems = sorted({str(name) for name in field.problem[~seen]})
    return (
        f"{AUTO} was developed on {len(np.unique(field.problem[seen]))} of the problems, where it is number "
        f"{place['developed on']} with a regret of {written(field.mean(regret, AUTO, seen), '.2f')}; on the "
        f"{len(problems)} that it had never seen ({', '.join(problems)}) it is number {place['others']} with "
        f"{written(field.mean(regret, AUTO, ~seen), '.2f')}."
    )


def _body(results: Results) -> str:
    field = collect(results)
    regret = field.regret()
    mine = field.mean(regret, AUTO)
    drawings = int(field.drawings.sum())
    return f"""\
## Which calibrator?

- **By calibration cases**, least mean regret: {_best_by(field, field.sizes, field.size)}.
- **By share of positives**: {_best_by(field, field.bands, field.band)}.
- **By classifier**: {_best_by(field, field.classifiers, field.classifier)}.

Regret is what a method loses against the best one of the same cell, in percent of the loss of one who knows the share
of positives and nothing else. {AUTO} has {written(mine, ".2f")} in log-loss (95 % interval over sources of data); the
uncalibrated scores, {RAW}, have {written(field.mean(regret, RAW, ~field.thinned), ".1f")} where nothing was thinned.
Nobody can have 0 everywhere: the best of a cell is found with hindsight, and part of its lead is luck.

## What was done

{len(np.unique(field.problem))} two-class problems from {len(np.unique(field.source))} sources of data, those of the
documents, were learned by {len(field.classifiers)} classifiers. The classifier sees its training rows alone;
calibrators see rows drawn from a pool, and are judged on other rows again. Every calibrator that this package exports
takes part, {len(find_methods())} of them, with its defaults. {drawings:,} drawings were made, each for all methods
alike, up to {int(field.drawings.max())} for a cell; a cell is a problem, a classifier, a size and a share of
positives. Drawings are random, as they come: with rare positives one may hold none at all. Sizes that could be
expected to hold fewer than {FEWEST:g} positives are left out.

Balanced problems were also thinned, in calibration and test alike, until positives were rare. Then the classifier
believes in a share of positives that is no longer true. That is common in practice, it is what calibration repairs, and
it is unfair to {RAW} scores; so questions about {RAW} scores are answered without thinned problems.

{{{{ table problems }}}}

## The map

{_kinds_won(field, "log_loss")} The median square is won by {_median_lead(field, "log_loss"):.2f}
points over the best method of another kind. A pale square says that the choice hardly matters there.
{_repeated(results)}

{{{{ figure map-brier }}}}

{_kinds_won(field, "brier")} The Brier score forgives a forecast of 0 that was wrong, which log-loss punishes without
limit; that is why both are shown.

## Who can be trusted everywhere

To win somewhere is one thing, never to do harm another. The last columns of the table of standings are for the
careful: how often a method was worse than no calibration at all, how often its log-loss was infinite, and its regret
in a bad cell.

{{{{ figure regret-by-size }}}}

{{{{ figure regret-by-classifier }}}}

## Is the default ever beaten

{_beaten(field)}

{{{{ fold The default against every other calibrator }}}}

{{{{ table default }}}}

{{{{ end }}}}

{{{{ table groups }}}}

## When do steps beat a sigmoid

{_crossing(field)}

{{{{ fold Platt less isotonic by classifier and size }}}}

{{{{ table crossing }}}}

{{{{ end }}}}

## What this does not tell

Classifiers had fast settings and at most {max(part["rows"]["train"] for part in results.values()):,} training rows.
Problems of one source are witnesses that agree with each other, and there are {len(np.unique(field.source))} sources:
intervals over so few are rough, and somewhat too short. Calibrators had their defaults; with other options a method may
do better. Everything supposes that tomorrow's cases are like those that calibrated."""


def _answer(field: Field, ranking: list[str]) -> str:
    place, first = ranking.index(AUTO) + 1, ranking[0]
    regret, ranks = field.regret().mean(axis=0), field.ranks().mean(axis=0)
    shown = ", ".join(f"{name} ({regret[field.column(name)]:.2f})" for name in ranking[:5])
    taken = f"Take {first}{_exported(first)}"
    if first == AUTO:
        taken += f", the default: it has the least mean regret in log-loss over all cells. The first five: {shown}."
    else:
        chance = "is more than chance" if first in field.beaten_by(AUTO) else "may be chance"
        taken += (
            f", which has the least mean regret in log-loss over all cells. The first five: {shown}. The default, "
            f"{AUTO}, is number {place} of {len(ranking)}; it is behind by "
            f"{written(field.difference(AUTO, first), '.2f')}, which {chance}."
        )
    best_rank = field.methods[int(np.argmin(ranks))]
    rank = f"The best mean rank, {ranks.min():.1f} of {len(ranking)}, has {best_rank}"
    mine = "" if best_rank == AUTO else f"; {AUTO}'s is {ranks[field.column(AUTO)]:.1f}"
    harm = 100 * worse_than_raw(field, AUTO)
    return (
        f"{taken} {rank}{mine}. {AUTO} was worse than no calibration in {harm:.1f} % of the cells, thinned ones apart."
    )


def _exported(method: str) -> str:
    """Say what the default is called in the library."""
    return " (`AutoCalibrator`)" if method == AUTO else ""


def _beaten(field: Field) -> str:
    groups = groups_of(field)
    found = {name: field.beaten_by(AUTO, where) for name, where in groups.items() if field.can_judge(where)}
    lost = [f"{name} (by {', '.join(names)})" for name, names in found.items() if names]
    overall = ", ".join(field.beaten_by(AUTO)) or "none"
    listed = f": {'; '.join(lost)}" if lost else ""
    return (
        f"Surely better than {AUTO} over all cells: {overall}. Of {len(found)} groups of cells that come from enough "
        f"sources of data to judge, {AUTO} is surely beaten "
        f"in {len(lost)}{listed}."
    )


def _best_by(field: Field, names: list[str], column: np.ndarray) -> str:
    best = {name.removeprefix("about "): best_of(field, column == name) for name in names}
    if len(set(best.values())) == 1:
        return f"{next(iter(best.values()))}, for each of {len(best)}"
    return "; ".join(f"{name} → {method}" for name, method in best.items())


def _squares(field: Field, both: Field | None = None) -> list[Bools]:
    """Return the cells of every square that has some, in another field too where one is given."""

    def cells(of: Field, square: tuple[str, str, str]) -> Bools:
        classifier, size, band = square
        return np.asarray((of.classifier == classifier) & (of.size == size) & (of.band == band))

    squares = list(product(field.classifiers, field.sizes, field.bands))
    kept = [each for each in squares if cells(field, each).any() and cells(both or field, each).any()]
    return [cells(field, each) for each in kept]


def _kinds_won(field: Field, loss: Loss) -> str:
    winners = [winner(field, where, loss)[0] for where in _squares(field)]
    kinds = {kind: sum(kind_of(name) == kind for name in winners) for kind in KINDS}
    names = sorted(set(winners), key=lambda name: -winners.count(name))
    shown = ", ".join(f"{kind} {number}" for kind, number in sorted(kinds.items(), key=lambda item: -item[1]) if number)
    return (
        f"Of {len(winners)} squares of classifier, size and share of positives, kinds won: {shown}. "
        f"{len(names)} methods win at least one, most often {names[0]} ({winners.count(names[0])})."
    )


def _median_lead(field: Field, loss: Loss) -> float:
    return float(np.median([winner(field, where, loss)[1] for where in _squares(field)]))


def _repeated(results: Results) -> str:
    """Say how often the same method, and the same kind, win when a square is drawn again."""
    first, second = (collect(results, slice(start, None, 2)) for start in (0, 1))
    pairs = [
        tuple(winner(half, where, "log_loss")[0] for half, where in ((first, mine), (second, theirs)))
        for mine, theirs in zip(_squares(first, second), _squares(second, first), strict=True)
    ]
    same = sum(a == b for a, b in pairs)
    kinds = sum(kind_of(a) == kind_of(b) for a, b in pairs)
    return (
        f"How much of it is luck? With every other drawing alone, and then with the rest, the same method wins "
        f"{same} of {len(pairs)} squares both times, the same kind {kinds}."
    )


def _crossing(field: Field) -> str:
    """Say from which size on isotonic regression is ahead of Platt, classifier by classifier."""
    said = []
    for name in field.classifiers:
        ahead = [
            field.difference("isotonic", "Platt", (field.classifier == name) & (field.size == size), "brier").value < 0
            for size in field.sizes
        ]
        # The first size from which on it stays ahead.
        lost = [place for place, is_ahead in enumerate(ahead) if not is_ahead]
        start = lost[-1] + 1 if lost else 0
        said.append(f"{name} {field.sizes[start] if start < len(ahead) else 'never'}")
    return (
        "In mean Brier score isotonic regression is ahead of Platt, and stays so, from this many calibration cases on: "
        f"{'; '.join(said)}. The table says which of these differences are more than chance."
    )
