"""Verdicts: what the documents say, over more classifiers and problems than each of them had; and the default's own."""

from collections.abc import Sequence

import numpy as np

from oddsmith.checks import Bools
from oddsmith_studies.studies._claims import Claim, judge_all
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies._tables import written
from oddsmith_studies.studies.summary.measured import ALL, Field, Loss, collect
from oddsmith_studies.studies.summary.methods import AUTO, RAW
from oddsmith_studies.studies.summary.tables import groups_of

_OURS = "a question of our own"
#: Points of regret that are alike, where a document says so without a figure.
_ALIKE = 5.0
_POINTS = "points of regret, with 95 % intervals over sources of data"


def all_claims(results: Results) -> list[Claim]:
    """Return all verdicts."""
    field = collect(results)
    said = results.published.figures["claims"]
    return [
        _default_overall(field),
        _default_somewhere(field),
        _platt_isotonic(field, said["9.4.5"], said["crossing"]),
        _few_cases(field, said["9.4.5"]),
        _piecewise(field, said["9.1.1"]),
        _asymmetric(field, said["9.2.1"]),
        _asymmetric_wins(field),
        _correction(field, said["9.4.3"]),
        _gains(field, said["9.4.6"]),
    ]


def _default_overall(field: Field) -> Claim:
    losses: tuple[Loss, Loss] = ("log_loss", "brier")
    beaten = {loss: field.beaten_by(AUTO, loss=loss) for loss in losses}
    own = {loss: field.mean(field.regret(loss), AUTO) for loss in losses}
    return Claim(
        "S.1",
        f"Over all cells no single calibrator is surely better than the default, {AUTO}.",
        _OURS,
        f"surely better in log-loss: {_listed(beaten['log_loss'])}; in Brier score: {_listed(beaten['brier'])}. "
        f"{AUTO}'s regret: {written(own['log_loss'], '.2f')} and {written(own['brier'], '.2f')}",
        judge_all([not names for names in beaten.values()]),
        "5 % tests over sources of data, corrected by Holm for the number of methods",
    )


def _default_somewhere(field: Field) -> Claim:
    groups = groups_of(field)
    found = {name: field.beaten_by(AUTO, where) for name, where in groups.items() if field.can_judge(where)}
    where = [f"{name} ({', '.join(names)})" for name, names in found.items() if names]
    return Claim(
        "S.2",
        f"{AUTO} is surely beaten in log-loss in no group of cells: of a classifier, a size, a share of positives, "
        "texts or tables.",
        _OURS,
        "; ".join(where) or "nowhere",
        judge_all([not names for names in found.values()]),
        f"{len(where)} of {len(found)} groups; {len(groups) - len(found)} more have too few sources of data; corrected "
        "for the methods of a group, not for the number of groups, so "
        "that one group in twenty may be chance",
    )


def _platt_isotonic(field: Field, said: str, crossing: int) -> Claim:
    below = [size for size in field.sizes if size != ALL and int(size) < crossing]
    found = {size: field.difference("Platt", "isotonic", field.size == size, "brier") for size in field.sizes}
    shown = "; ".join(f"{size} cases {written(each, '+.2f')}" for size, each in found.items())
    return Claim(
        "9.4.5",
        f"With fewer than about {crossing:,} calibration cases Platt beats isotonic regression.",
        said,
        f"Platt less isotonic in Brier score: {shown}",
        judge_all([found[size].high < 0 for size in below]),
        f"{_POINTS}; every size below {crossing:,} must have its interval below 0. In log-loss plain isotonic "
        f"regression is infinite in {100 * _infinite(field, 'isotonic'):.0f} % of drawings, which decides nothing",
    )


def _few_cases(field: Field, said: str) -> Claim:
    size = field.sizes[0]
    where = (field.size == size) & ~field.thinned
    found = {name: field.difference(name, RAW, where, "brier") for name in ("Platt", "isotonic", AUTO)}
    return Claim(
        "9.4.5, few cases",
        "Calibration helps even with very few cases.",
        f"{said}; it helps even with few",
        f"less raw in Brier score with {size} cases: "
        + "; ".join(f"{name} {written(each, '+.2f')}" for name, each in found.items()),
        judge_all([each.high < 0 for each in found.values()]),
        f"{_POINTS}; shares of positives as they are, since thinning makes raw scores wrong on purpose",
    )


def _piecewise(field: Field, said: str) -> Claim:
    held, shown = [], []
    for name in _present(field, ("naive Bayes", "linear SVM", "logistic regression")):
        where = field.texts & ~field.thinned & (field.classifier == name) & (field.size == ALL)
        for other in ("logistic", "asymmetric Laplace"):
            difference = field.difference("piecewise logistic", other, where)
            held.append(difference.high < 0)
            shown.append(f"{name}, less {other} {written(difference, '+.2f')}")
    return Claim(
        "9.1.1",
        "On texts piecewise logistic regression has a better log-loss than logistic regression and the asymmetric "
        "Laplace, for every classifier.",
        said,
        "; ".join(shown),
        judge_all(held),
        f"{_POINTS}; texts with all calibration cases, {_witnesses(field, field.texts)}",
    )


def _asymmetric(field: Field, said: str) -> Claim:
    good, bad = ("asymmetric Laplace", "Platt", "logistic"), ("Gaussian", "Laplace", "asymmetric Gaussian")
    where = field.texts & ~field.thinned & (field.size == ALL)
    where &= np.isin(field.classifier, _present(field, ("naive Bayes", "linear SVM", "voted perceptron")))
    found = {
        (first, second, loss): field.difference(first, second, where, loss)
        for first in good
        for second in bad
        for loss in ("log_loss", "brier")
    }
    held = {key: each.high < 0 for key, each in found.items()}
    failed = [f"{a} against {b} ({loss.replace('_', '-')})" for (a, b, loss), fine in held.items() if not fine]
    regret = field.regret()[where].mean(axis=0)
    shown = ", ".join(f"{name} {regret[field.column(name)]:.2f}" for name in (*good, *bad))
    return Claim(
        "9.2.1",
        "On texts the asymmetric Laplace, Platt and logistic regression clearly beat the Gaussian, the Laplace and the "
        "asymmetric Gaussian.",
        said,
        f"in {sum(held.values())} of {len(held)} comparisons; regrets in log-loss: {shown}",
        judge_all(list(held.values())),
        f"{_POINTS}; {_witnesses(field, where)}. Not clearly: {_listed(failed)}",
    )


def _asymmetric_wins(field: Field) -> Claim:
    where, wins = field.texts, field.wins()
    names = ("asymmetric Laplace", "piecewise logistic")
    found = {name: field.difference(name, AUTO, where) for name in names}
    share = {name: 100 * float(wins[where, field.column(name)].mean()) for name in names}
    chance = 100 / len(field.methods)
    return Claim(
        "S.3",
        f"On texts, for which they were made, the asymmetric Laplace and piecewise logistic regression beat {AUTO}.",
        _OURS,
        "; ".join(
            f"{name}: {share[name]:.0f} % of cells won, less {AUTO} {written(found[name], '+.2f')}" for name in names
        ),
        judge_all([each.high < 0 for each in found.values()]),
        f"{_POINTS}; a method that were as good as any would win {chance:.0f} % of cells",
    )


def _correction(field: Field, said: str) -> Claim:
    found = {
        name: field.difference("logistic correction", "Platt", ~field.thinned & (field.classifier == name))
        for name in _present(field, ("boosted stumps", "boosted small trees", "boosted trees"))
    }
    stumps, trees = found["boosted stumps"], found["boosted trees"]
    return Claim(
        "9.4.3",
        "Logistic Correction serves boosted stumps about as well as Platt does, and fails for boosted full trees.",
        said,
        "Logistic Correction less Platt in log-loss: "
        + "; ".join(f"{name} {written(each, '+.2f')}" for name, each in found.items()),
        judge_all([stumps.value < _ALIKE, trees.low > 0, trees.low > stumps.high]),
        f"{_POINTS}; for stumps the difference must be below {_ALIKE:g}, for full trees surely above 0 and surely "
        "above that for stumps",
    )


def _gains(field: Field, said: str) -> Claim:
    named = _present(field, ("boosted trees", "linear SVM", "boosted stumps", "naive Bayes"))
    enough = np.isin(field.size, (ALL, "2000")) & ~field.thinned
    gains = {
        name: field.difference(AUTO, RAW, enough & (field.classifier == name), "brier") for name in field.classifiers
    }
    ranking = sorted(gains, key=lambda name: gains[name].value)
    top = ranking[: max(len(ranking) // 2, len(named))]
    shown = ", ".join(f"{name} {gains[name].value:+.1f}" for name in ranking)
    return Claim(
        "9.4.6",
        "Calibration brings most to boosted trees, support vector machines, boosted stumps and naive Bayes.",
        said,
        f"{AUTO} less raw in Brier score, most first: {shown}",
        judge_all([name in top for name in named]),
        f"each must be among the first {len(top)} of {len(ranking)}; 2,000 cases or all, shares of positives as "
        "they are",
    )


def _present(field: Field, names: Sequence[str]) -> list[str]:
    return [name for name in names if name in field.classifiers]


def _infinite(field: Field, method: str) -> float:
    return float(field.infinite[:, field.column(method)].sum() / field.drawings.sum())


def _witnesses(field: Field, where: Bools) -> str:
    number = len(np.unique(field.source[where]))
    return f"only {number} sources of data" if number < 6 else f"{number} sources of data"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
