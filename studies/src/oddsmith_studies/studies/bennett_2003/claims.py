"""Verdicts on what the document claims."""

import numpy as np

from oddsmith.checks import Floats
from oddsmith.metrics import MeasureComparison, empirical_log_odds, sign_test
from oddsmith_studies.studies._claims import Claim, judge_all
from oddsmith_studies.studies._study import Json, Results
from oddsmith_studies.studies._text_features import REUTERS
from oddsmith_studies.studies._text_figures import refit, shown_tables
from oddsmith_studies.studies._text_methods import A_GAUSS, A_LAPLACE, GAUSS, HYBRID, LAPLACE, LR, NOISE, PLR, RAW
from oddsmith_studies.studies._text_parts import part_name
from oddsmith_studies.studies._text_results import MEASURES, beats, comparison, listed, sum_of
from oddsmith_studies.studies._text_scores import BAYES, PERCEPTRON, SVM
from oddsmith_studies.studies.bennett_2003.parts import CLASSIFIERS, CORPORA, SHOWN, TIMES
from oddsmith_studies.studies.bennett_2003.tables import SEVEN, seven

_SAID = "said in words; the figures are lost in the copy"
_LOSSES = ("log-loss", "squared error")
_BEST = (A_LAPLACE, NOISE, LR)
_OTHERS = (GAUSS, LAPLACE, A_GAUSS)
#: Totals this close, as a share, are called the same.
_SAME = 0.02
#: Totals this close are called competitive.
_CLOSE = 0.10
_T_TEST = "paired t-test over all decisions, level 0.05"


def all_claims(results: Results) -> list[Claim]:
    """Return a verdict on each claim, and on what the document proposes to try."""
    cases = {
        f"{corpus}, {classifier}": results[part_name("main", corpus, classifier)]
        for corpus in CORPORA
        for classifier in CLASSIFIERS
    }
    perceptrons = {corpus: results[part_name("main", corpus, PERCEPTRON)] for corpus in CORPORA}
    return [
        _three_best(cases),
        _noise(cases),
        _fewest_errors(cases),
        _never_significant(cases),
        _more_wins(cases),
        _asymmetric_gaussian(cases),
        _really_wrong(cases),
        _earn(results),
        _times(results[TIMES]),
        _both_losses(cases),
        _tried(cases, HYBRID, "9.2.11, hybrid", "A hybrid of Gaussian outside and exponential inside"),
        _tried(cases, PLR, "9.2.11, three pieces", "Three lines fitted to the log-odds directly"),
        _votes(perceptrons),
    ]


def _three_best(cases: dict[str, Json]) -> Claim:
    held, failed = [], []
    for name, part in cases.items():
        others = (*_OTHERS, RAW) if part["classifier"] == BAYES else _OTHERS
        for measure in _LOSSES:
            view = seven(part, measure, "ZY04")
            for good in _BEST:
                for other in others:
                    held.append(beats(view, good, other))
                    if not held[-1]:
                        failed.append(f"{good} and {other} ({name}, {measure})")
    return Claim(
        "9.2.1",
        "A. Laplace, LR+noise and LR clearly beat Gauss, Laplace and A. Gauss, and raw naive Bayes, in log-loss and "
        "squared error.",
        _SAID,
        f"significantly better in {sum(held)} of {len(held)} pairs; not: {listed(failed)}",
        judge_all(held),
        f"{_T_TEST}, because the claim is about totals",
    )


def _noise(cases: dict[str, Json]) -> Claim:
    held, shown = [], []
    for name, part in cases.items():
        apart = part["inputs"]["score"]["noise"]
        changes = [
            abs(sum_of(view, NOISE) / sum_of(view, LR) - 1) for view in (seven(part, measure) for measure in _LOSSES)
        ]
        held.append(max(changes) < _SAME and apart["beyond_0.01"] < _SAME)
        shown.append(
            f"{name}: totals within {100 * max(changes):.1f} %, P apart by more than 0.01 in "
            f"{100 * apart['beyond_0.01']:.1f} % of decisions, {apart['decided_otherwise']} decided otherwise"
        )
    return Claim(
        "9.2.2",
        "There is little between LR and LR+noise, in totals and decision by decision.",
        _SAID,
        "; ".join(shown),
        judge_all(held),
        f"little is less than {100 * _SAME:.0f} %, of both totals and of the decisions",
    )


def _fewest_errors(cases: dict[str, Json]) -> Claim:
    held, shown = [], []
    for name, part in cases.items():
        view = seven(part, "errors")
        mine = sum_of(view, A_LAPLACE)
        least = min(sum_of(view, other) for other in SEVEN)
        held.append(mine == least)
        best = [other for other in SEVEN if sum_of(view, other) == least]
        shown.append(f"{name}: {mine:.0f}" + ("" if held[-1] else f", {', '.join(best)} {least:.0f}"))
    return Claim(
        "9.2.3",
        "A. Laplace has the fewest errors on every corpus with every classifier, though not always significantly.",
        _SAID,
        f"fewest in {sum(held)} of {len(held)} cases. {'; '.join(shown)}",
        judge_all(held),
        "totals of errors among the document's seven; ties count as fewest",
    )


def _never_significant(cases: dict[str, Json]) -> Claim:
    better: list[str] = []
    significant: list[str] = []
    held = []
    for name, part in cases.items():
        known = len(significant)
        for measure in _LOSSES:
            view = seven(part, measure)
            sign = 1 if measure == "log-loss" else -1
            for other in (LR, NOISE):
                if sign * (sum_of(view, other) - sum_of(view, A_LAPLACE)) > 0:
                    better.append(f"{other} ({name}, {measure})")
                    if beats(view, other, A_LAPLACE):
                        significant.append(better[-1])
        held.append(len(significant) == known)
    return Claim(
        "9.2.4",
        "LR and LR+noise are sometimes slightly better than A. Laplace in log-loss or squared error, but never "
        "significantly by the sign test.",
        _SAID,
        f"better in {len(better)} of {4 * len(cases)} totals; significantly in {len(significant)}: "
        f"{listed(significant)}",
        judge_all(held),
        "micro sign test, level 0.01; held in a corpus with a classifier where none is significant",
    )


def _more_wins(cases: dict[str, Json]) -> Claim:
    held, shown = [], []
    for name, part in cases.items():
        losses, errors = seven(part, "log-loss"), seven(part, "errors")
        more = {what: _with_more_wins(view) for what, view in (("log-loss", losses), ("errors", errors))}
        totals_won = [other for other in more["log-loss"] if sum_of(losses, other) > sum_of(losses, A_LAPLACE)]
        fewer = [other for other in errors.names if sum_of(errors, other) < sum_of(errors, A_LAPLACE)]
        held.append(set(more["log-loss"]) <= {RAW, A_GAUSS} and not (totals_won or more["errors"] or fewer))
        shown.append(
            f"{name}: {', '.join(more['log-loss']) or 'none'} (with a better total: {', '.join(totals_won) or 'none'})"
            f", on errors {', '.join(more['errors']) or 'none'}"
        )
    return Claim(
        "9.2.5",
        "Only raw naive Bayes and A. Gauss ever have more pairwise wins than A. Laplace in log-loss and squared error, "
        "with worse totals; nothing beats A. Laplace on errors, in wins or in totals.",
        _SAID,
        f"more wins in log-loss than A. Laplace: {'; '.join(shown)}",
        judge_all(held),
        f"wins of single decisions among the document's seven; all of it held in {sum(held)} of {len(held)} cases",
    )


def _with_more_wins(view: MeasureComparison) -> list[str]:
    mine = view.names.index(A_LAPLACE)
    return [other for place, other in enumerate(view.names) if view.wins[place, mine] > view.wins[mine, place]]


def _asymmetric_gaussian(cases: dict[str, Json]) -> Claim:
    nearer = farther = 0
    ruined, competitive, shown = [], [], []
    for name, part in cases.items():
        found = part["inputs"]["score"]
        for fit in found["categories"].values():
            for mode, mean, theta in fit["modes"]:
                nearer += abs(theta - mode) < abs(mean - mode)
                farther += abs(theta - mode) > abs(mean - mode)
        view = seven(part, "log-loss")
        ruined.append(sum_of(view, A_GAUSS) < sum_of(view, A_LAPLACE))
        mine, theirs = found["worst"][A_GAUSS]["without"]["0.01"]
        competitive.append(mine > (1 + _CLOSE) * theirs)
        shown.append(
            f"{name}: {sum_of(view, A_GAUSS):.4g} against {sum_of(view, A_LAPLACE):.4g}, without its worst 1 % "
            f"{mine:.4g} against {theirs:.4g}"
        )
    test = sign_test(nearer, farther)
    return Claim(
        "9.2.6",
        "A. Gauss places modes better than Gauss, but outliers in the tails ruin it; without them it is competitive.",
        _SAID,
        f"its mode is nearer to that of a kernel estimate in {nearer} of {nearer + farther} classes "
        f"(p = {test.p_value:.2g}); log-loss against A. Laplace: {'; '.join(shown)}",
        judge_all([nearer > farther and test.p_value < 0.05, *ruined, *competitive]),
        f"sign test of the distances; worse in total; within {100 * _CLOSE:.0f} % of A. Laplace without the 1 % of "
        "decisions that cost it most",
    )


def _really_wrong(cases: dict[str, Json]) -> Claim:
    held, shown = [], []
    for name, part in cases.items():
        if part["classifier"] == BAYES:
            found = part["inputs"]["score"]["extreme"]
            held += [found["sure"] > 0.5, found["wrong_and_sure"] > 0.5 * found["wrong"]]
            shown.append(
                f"{name}: {100 * found['sure']:.1f} % of estimates; {found['wrong_and_sure']} of its {found['wrong']} "
                f"errors, errors making {100 * found['share_of_loss']:.1f} % of the log-loss"
            )
    return Claim(
        "9.2.7",
        "Raw naive Bayes estimates cluster at 0 and 1: when it is wrong, it is really wrong.",
        _SAID,
        f"within 0.001 of 0 or 1: {'; '.join(shown)}",
        judge_all(held),
        "more than half of all estimates, and of the wrong ones, lie within 0.001 of 0 or 1",
    )


def _earn(results: Results) -> Claim:
    held, shown = [], []
    for classifier in CLASSIFIERS:
        part = results[part_name("main", REUTERS, classifier)]
        tables = shown_tables(part)
        fits = refit(tables["train"], (LR, A_LAPLACE))
        for half, table in tables.items():
            away = {name: _distance(table, fit) for name, fit in fits.items()}
            held.append(bool(away[A_LAPLACE] < away[LR]))
            shown.append(f"{classifier}, {half}: {away[A_LAPLACE]:.2f} and {away[LR]:.2f}")
        losses = part["inputs"]["score"]["categories"][SHOWN]["losses"]
        shown.append(f"log-loss {losses[A_LAPLACE][0]:.1f} and {losses[LR][0]:.1f}")
    return Claim(
        "9.2.8",
        f"A. Laplace follows the empirical log-odds of {SHOWN} better than LR, even where test and training scores are "
        "distributed differently.",
        _SAID,
        f"mean distance in log-odds, A. Laplace and LR: {'; '.join(shown)}",
        judge_all(held),
        "mean absolute distance over 30 bins of equal weight, weighted; bins with one class are left out",
    )


def _distance(table: object, fit: object) -> float:
    """Return the mean distance of a map from the empirical log-odds, over bins with both classes."""
    found = empirical_log_odds(table)  # type: ignore[arg-type]
    both = ~found.one_class
    weight: Floats = (found.pos + found.neg)[both]
    apart = np.abs(fit.log_odds(found.mean_score[both]) - found.log_odds[both])  # type: ignore[attr-defined]
    return float(weight @ apart / weight.sum())


def _times(found: Json) -> Claim:
    answers = found["below"]
    return Claim(
        "9.2.9",
        "Asymmetric distributions are fitted in O(n log n), the time of a sort.",
        "said in words",
        "time grows with a power of n below "
        f"{found['exponent']:g}, from {found['sizes'][0]:,} to {found['sizes'][-1]:,} scores: "
        + ", ".join(f"{name} {'yes' if answer else 'no'}" for name, answer in answers.items()),
        judge_all(list(answers.values())),
        "least of several times a size; seconds are not kept, because they differ from run to run",
    )


def _both_losses(cases: dict[str, Json]) -> Claim:
    outliers, rewarded = [], []
    for name, part in cases.items():
        worst = part["inputs"]["score"]["worst"]
        outliers += [
            f"{method} ({name}) {100 * worst[method]['largest_share']:.0f} %"
            for method in SEVEN
            if worst[method]["largest_share"] > 0.1 and not (method == RAW and part["classifier"] == SVM)
        ]
        # Deciding 0 or 1 by A. Laplace has its errors for squared error, and a log-loss of −inf.
        hard = sum_of(seven(part, "errors"), A_LAPLACE)
        view = seven(part, "squared error")
        rewarded += [f"{method} ({name})" for method in view.names if sum_of(view, method) > hard]
    return Claim(
        "9.2.10",
        "One outlier can decide the log-loss, and squared error can reward estimates of 0 and 1 only: report both.",
        _SAID,
        f"one decision is more than a tenth of the log-loss of: {listed(outliers)}. Estimates of 0 and 1 by the "
        f"decisions of A. Laplace have a better squared error than: {listed(rewarded)}",
        judge_all([bool(outliers), bool(rewarded)]),
        "each half counts as held if it occurs in any case",
    )


def _tried(cases: dict[str, Json], method: str, number: str, what: str) -> Claim:
    held, shown = [], []
    for name, part in cases.items():
        view = comparison(part, "log-loss")
        held.append(beats(view, method, A_LAPLACE))
        shown.append(f"{name}: {sum_of(view, method):.4g} and {sum_of(view, A_LAPLACE):.4g}")
    return Claim(
        number,
        f"{what} may do better than A. Laplace (proposed as future work).",
        "a proposal",
        f"log-loss, {method} and A. Laplace: {'; '.join(shown)}",
        judge_all(held),
        f"{_T_TEST}, for each corpus and classifier",
    )


def _votes(perceptrons: dict[str, Json]) -> Claim:
    held, shown = [], []
    for corpus, part in perceptrons.items():
        views = {measure: comparison(part, measure) for measure in MEASURES}
        held.append(beats(views["log-loss"], LR, RAW))
        shown.append(
            f"{corpus}: raw {sum_of(views['log-loss'], RAW):.4g}, LR {sum_of(views['log-loss'], LR):.4g}, A. Laplace "
            f"{sum_of(views['log-loss'], A_LAPLACE):.4g}, PLR {sum_of(views['log-loss'], PLR):.4g}"
        )
    return Claim(
        "9.2.11, perceptron",
        "The log ratio of a voted perceptron's votes is a score that these methods can calibrate (proposed as future "
        "work).",
        "a proposal",
        f"log-loss: {'; '.join(shown)}",
        judge_all(held),
        f"{_T_TEST}: LR on the score is better than the score taken for a log-odds",
    )
