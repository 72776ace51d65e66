"""Sentences and numbers of the page."""

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
    """Return everything that the page quotes."""
    field = collect(results)
    regret = field.regret()
    return {
        "answer": _answer(field, by_regret(field)),
        "developed_on": _developed_on(field),
        "best_by_size": _best_by(field, field.sizes, field.size),
        "best_by_share": _best_by(field, field.bands, field.band),
        "best_by_classifier": _best_by(field, field.classifiers, field.classifier),
        "default": AUTO,
        "raw": RAW,
        "regret_of_default": written(field.mean(regret, AUTO), ".2f"),
        "regret_of_raw": written(field.mean(regret, RAW, ~field.thinned), ".1f"),
        "problems": f"{len(np.unique(field.problem))}",
        "sources": f"{len(np.unique(field.source))}",
        "classifiers": f"{len(field.classifiers)}",
        "methods": f"{len(find_methods())}",
        "drawings": f"{int(field.drawings.sum()):,}",
        "most_drawings": f"{int(field.drawings.max())}",
        "fewest": f"{FEWEST:g}",
        "most_rows": f"{max(part['rows']['train'] for part in results.values()):,}",
        "won_in_log_loss": _kinds_won(field, "log_loss"),
        "won_in_brier": _kinds_won(field, "brier"),
        "median_lead": f"{_median_lead(field, 'log_loss'):.2f}",
        "repeated": _repeated(results),
        "beaten": _beaten(field),
        "crossing": _crossing(field),
    }


def _developed_on(field: Field) -> str:
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
    rank = f"{best_rank} has the best mean rank, {ranks.min():.1f} of {len(ranking)}"
    mine = "" if best_rank == AUTO else f"; {AUTO}'s is {ranks[field.column(AUTO)]:.1f}"
    harm = f"{AUTO} was worse than no calibration in {100 * worse_than_raw(field, AUTO):.1f} % of the cells that were"
    return f"{taken} {rank}{mine}. {harm} not thinned."


def _exported(method: str) -> str:
    """Say what the default is called in the library."""
    return " (`AutoCalibrator`)" if method == AUTO else ""


def _beaten(field: Field) -> str:
    groups = groups_of(field)
    if not field.can_judge():
        sources, others = len(np.unique(field.source)), len(field.methods) - 1
        return (
            f"From {sources} sources of data no test can show that one of {others} other methods is better than "
            f"{AUTO}: each p is at least (3/4)^{sources}, about {0.75**sources:.2f}, before it is corrected for "
            f"{others} comparisons. What is known is in the intervals below."
        )
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
        f"The {len(winners)} squares of classifier, size and share of positives are won by maps of these kinds: "
        f"{shown}. {len(names)} methods win at least one, most often {names[0]} ({winners.count(names[0])})."
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
        f"How much of it is chance? With one half of the drawings and with the other, the same method wins {same} of "
        f"{len(pairs)} squares both times, the same kind {kinds}."
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
