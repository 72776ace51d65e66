"""Verdicts on what the document claims."""

import math
from collections.abc import Sequence

from oddsmith.metrics import Interval
from oddsmith_studies.studies._claims import Claim, Verdict, judge_all
from oddsmith_studies.studies._published import Published
from oddsmith_studies.studies._study import Json, Results
from oddsmith_studies.studies._tables import written
from oddsmith_studies.studies._text_features import NEWSGROUPS, REUTERS
from oddsmith_studies.studies._text_methods import A_LAPLACE, A_LAPLACE_DOUBLE, GROWN, LR, PLR, RAW
from oddsmith_studies.studies._text_parts import part_name
from oddsmith_studies.studies._text_results import (
    MEASURES,
    among,
    beats,
    comparison,
    known,
    listed,
    paired_difference,
    published_name,
    sum_of,
)
from oddsmith_studies.studies._text_scores import BAYES, LOGISTIC, SVM
from oddsmith_studies.studies.zhang_yang_2004.parts import CLASSIFIERS, CORPORA
from oddsmith_studies.studies.zhang_yang_2004.tables import FOUR, star

_T_TEST = "paired t-test over all decisions, level 0.05"
#: Totals of log-loss this close, as a share, are called the same.
_SAME = 0.05
#: How many times worse raw naive Bayes is said to be.
_TIMES = 10


def all_claims(results: Results) -> list[Claim]:
    """Return a verdict on each claim."""
    published = results.published
    return [
        _best_log_loss(results, published),
        _best_squared_error(results, published),
        _fewest_errors(results, published),
        _underflow(results, published),
        _only_plr_helps(results, published),
        _rising_pieces(results),
        _grown(results, published),
        _calibrated_svm(results, published),
        _raw_bayes(results, published),
        _mode_at_data(results),
        _svm_exchange(results, published),
    ]


def _parts(results: Results, classifiers: Sequence[str] = CLASSIFIERS) -> list[tuple[str, Json]]:
    """Return all corpora and classifiers with a name each."""
    return [
        (f"{corpus}, {classifier}", results[part_name("main", corpus, classifier)])
        for corpus in CORPORA
        for classifier in classifiers
    ]


def _best_log_loss(results: Results, published: Published) -> Claim:
    held = {}
    for name, part in _parts(results):
        found = comparison(part, "log-loss")
        held[name] = all(beats(found, PLR, published_name(part, other)) for other in (LR, A_LAPLACE))
    raw = results[part_name("main", REUTERS, LOGISTIC)]
    found = comparison(raw, "log-loss")
    gain = sum_of(found, PLR) - sum_of(found, RAW)
    unstarred = not star(raw, PLR, "log-loss")
    printed = published.tables["reuters"].rows
    theirs = known(printed[LOGISTIC, PLR]["log-loss"]) - known(printed[LOGISTIC, RAW]["log-loss"])
    return Claim(
        "9.1.1",
        "Piecewise logistic regression has the best log-loss of the three methods, for every classifier and corpus; "
        "against the logistic-regression classifier's own probabilities on Reuters the gain is small and no star.",
        f"always; gain over the own probabilities {theirs:+.1f}",
        f"best by the test in {sum(held.values())} of {len(held)} cases, not in: {_not(held)}; gain over the own "
        f"probabilities on Reuters {gain:+.1f} ({'no star' if unstarred else 'a star'})",
        judge_all([*held.values(), unstarred]),
        f"{_T_TEST}, against LR and A. Laplace",
    )


def _best_squared_error(results: Results, published: Published) -> Claim:
    best = {name: _best(part, "squared error") for name, part in _parts(results)}
    won = sum(method == PLR for method in best.values())
    exception = best[f"{NEWSGROUPS}, {SVM}"]
    verdict: Verdict = "confirmed" if 2 * won > len(best) else "not confirmed"
    return Claim(
        "9.1.2",
        "Piecewise logistic regression is usually best in squared error; the exception is the support vector machine "
        "on TREC-AP, where the asymmetric Laplace wins.",
        f"best in {_count_best(published, 'squared error', PLR)} of 6 cases",
        f"best in {won} of {len(best)} cases, not in: {_not({name: method == PLR for name, method in best.items()})}; "
        f"with the support vector machine on {NEWSGROUPS}, in TREC-AP's place, {exception} is best",
        verdict,
        "usually is taken as more than half of the cases, by totals",
    )


def _fewest_errors(results: Results, published: Published) -> Claim:
    best = {name: _best(part, "errors") for name, part in _parts(results)}
    won = [name for name, method in best.items() if method == A_LAPLACE]
    return Claim(
        "9.1.3",
        "The asymmetric Laplace is sometimes best in errors.",
        f"best in {_count_best(published, 'errors', A_LAPLACE)} of 6 cases",
        f"fewest errors in {len(won)} of {len(best)} cases: {listed(won)}",
        "confirmed" if 0 < len(won) < len(best) else "not confirmed",
        "sometimes is taken as at least once and not always, by totals",
    )


def _underflow(results: Results, published: Published) -> Claim:
    infinite, finite, apart = {}, {}, {}
    for corpus in CORPORA:
        part = results[part_name("main", corpus, LOGISTIC)]
        infinite[corpus] = math.isinf(sum_of(comparison(part, "log-loss"), A_LAPLACE_DOUBLE))
        finite[corpus] = sum_of(comparison(part, "log-loss"), A_LAPLACE)
        apart[corpus] = paired_difference(
            part["inputs"]["log-odds"]["kept"][A_LAPLACE], _kept(results[part_name("main", corpus, SVM)], A_LAPLACE)
        )
    similar = [each.low <= 0 <= each.high for each in apart.values()]
    return Claim(
        "9.1.4",
        "The asymmetric Laplace fitted to probabilities of the logistic-regression classifier has a log-loss of −inf; "
        "fitted to its log-odds it would do as with the support vector machine (a conjecture).",
        f"{known(published.tables['reuters'].rows[LOGISTIC, A_LAPLACE]['log-loss']):g} on both corpora",
        f"−inf on {sum(infinite.values())} of {len(infinite)} corpora when P is a double and spikes are steep, else "
        f"{', '.join(f'{value:.0f} ({corpus})' for corpus, value in finite.items())}; log-odds less support vector "
        f"machine {_intervals(apart)}",
        judge_all([*infinite.values(), *similar]),
        "the conjecture counts as held where the 95 % interval of the paired difference in log-loss includes 0",
    )


def _only_plr_helps(results: Results, published: Published) -> Claim:
    held, shown = [], []
    for corpus in CORPORA:
        part = results[part_name("main", corpus, LOGISTIC)]
        found = comparison(part, "log-loss")
        laplace = published_name(part, A_LAPLACE)
        held += [beats(found, PLR, RAW), beats(found, RAW, LR), beats(found, RAW, laplace)]
        shown.append(
            f"{corpus}: raw {sum_of(found, RAW):.1f}, LR {sum_of(found, LR):.1f}, PLR {sum_of(found, PLR):.1f}"
        )
    printed = published.tables["reuters"].rows
    return Claim(
        "9.1.5",
        "Only piecewise logistic regression improves the probabilities of the logistic-regression classifier; plain "
        "logistic regression on them makes them worse.",
        ", ".join(f"{name} {known(printed[LOGISTIC, name]['log-loss']):.1f}" for name in (RAW, LR, PLR))
        + " on Reuters",
        "; ".join(shown),
        judge_all(held),
        f"{_T_TEST}: PLR better than raw, LR and A. Laplace worse, on each corpus",
    )


def _rising_pieces(results: Results) -> Claim:
    falling, fits = {}, 0
    for name, part in _parts(results):
        for given, found in part["inputs"].items():
            slopes = [min(fit["slopes"]) for fit in found["categories"].values()]
            fits += len(slopes)
            if count := sum(slope < 0 for slope in slopes):
                falling[name if len(part["inputs"]) == 1 else f"{name}, {given}"] = count
    shown = listed([f"{name} {count}" for name, count in falling.items()])
    return Claim(
        "9.1.6",
        "No piece of piecewise logistic regression ever has a negative slope.",
        "none in any run",
        f"{sum(falling.values())} of {fits} fits have a falling piece: {shown}",
        "confirmed" if not falling else "not confirmed",
        "all fits with three pieces; λ is chosen on held-out rows, as the document says, from a grid of our own",
    )


def _grown(results: Results, published: Published) -> Claim:
    low, high = (published.figures["pieces"][end] for end in ("least", "most"))
    pieces, changes = [], {}
    for name, part in _parts(results):
        found = comparison(part, "log-loss")
        changes[name] = sum_of(found, GROWN) / sum_of(found, PLR) - 1
        pieces += [fit["pieces"] for fit in next(iter(part["inputs"].values()))["categories"].values()]
    inside = sum(low <= count <= high for count in pieces)
    worst = max(changes, key=lambda name: abs(changes[name]))
    return Claim(
        "9.1.7",
        "Hill climbing ends with two to four pieces in most cases, with results like those of three.",
        f"{low} to {high} pieces in most cases; no figures",
        f"{inside} of {len(pieces)} fits have {low} to {high} pieces; log-loss changes by "
        f"{100 * min(changes.values()):+.1f} to {100 * max(changes.values()):+.1f} %, most with {worst}",
        judge_all([2 * inside > len(pieces), *(abs(change) < _SAME for change in changes.values())]),
        f"most is more than half; results are alike if the total of log-loss changes by less than {100 * _SAME:.0f} %",
    )


def _calibrated_svm(results: Results, published: Published) -> Claim:
    gains, squares = {}, {}
    for corpus in CORPORA:
        svm = _kept(results[part_name("main", corpus, SVM)], PLR)
        raw = _kept(results[part_name("main", corpus, LOGISTIC)], RAW)
        gains[corpus] = paired_difference(svm, raw)
        squares[corpus] = paired_difference(_squared(svm), _squared(raw))
    printed = published.tables["reuters"].rows
    return Claim(
        "9.1.8",
        "Calibrated scores of the support vector machine beat the logistic-regression classifier's own probabilities.",
        f"log-loss {known(printed[SVM, PLR]['log-loss']):.1f} against "
        f"{known(printed[LOGISTIC, RAW]['log-loss']):.1f} on Reuters",
        f"log-loss, difference: {_intervals(gains)}; squared error: {_intervals(squares)}",
        judge_all([*(each.low > 0 for each in gains.values()), *(each.high < 0 for each in squares.values())]),
        "95 % intervals of paired differences; PLR on the support vector machine less the raw classifier",
    )


def _raw_bayes(results: Results, published: Published) -> Claim:
    ratios = {}
    for name, part in _parts(results, (BAYES,)):
        found = comparison(part, "log-loss")
        ratios[name] = sum_of(found, RAW) / min(sum_of(found, method) for method in FOUR[1:])
    printed = published.tables["reuters"].rows
    theirs = known(printed[BAYES, RAW]["log-loss"]) / known(printed[BAYES, LR]["log-loss"])
    return Claim(
        "9.1.9",
        f"The log-loss of raw naive Bayes is more than {_TIMES} times that of any calibrated one.",
        f"{theirs:.1f} times that of the worst on Reuters",
        ", ".join(f"{ratio:.1f} times ({name})" for name, ratio in ratios.items()),
        judge_all([ratio > _TIMES for ratio in ratios.values()]),
        "against the worst of LR, A. Laplace and PLR",
    )


def _mode_at_data(results: Results) -> Claim:
    found = [
        at
        for _, part in _parts(results)
        for given in part["inputs"].values()
        for fit in given["categories"].values()
        for at in fit["at_data"]
    ]
    return Claim(
        "9.1.10",
        "The likeliest mode of an asymmetric Laplace distribution is always a data point.",
        "a footnote, without the proof",
        f"{sum(found)} of {len(found)} modes, each gap between scores searched at ten places",
        "confirmed" if all(found) else "not confirmed",
        "between data points √D_l + √D_r is concave in the mode, so that its minimum is at an end",
    )


def _svm_exchange(results: Results, published: Published) -> Claim:
    held, shown = [], []
    for name, part in _parts(results, (SVM,)):
        views = {measure: comparison(part, measure) for measure in MEASURES}
        held += [beats(views["log-loss"], LR, A_LAPLACE)]
        held += [beats(views[measure], A_LAPLACE, LR) for measure in ("squared error", "errors")]
        pairs = ", ".join(
            f"{measure} {sum_of(view, LR):.0f} and {sum_of(view, A_LAPLACE):.0f}" for measure, view in views.items()
        )
        shown.append(f"{name}: {pairs}")
    printed = published.tables["reuters"].rows
    return Claim(
        "9.1.11",
        "With the support vector machine logistic regression has a better log-loss than the asymmetric Laplace, but a "
        "worse squared error and more errors.",
        ", ".join(
            f"{measure} {known(printed[SVM, LR][measure]):g} and {known(printed[SVM, A_LAPLACE][measure]):g}"
            for measure in MEASURES
        )
        + " on Reuters",
        "; ".join(shown) + " (LR and A. Laplace)",
        judge_all(held),
        f"{_T_TEST}; errors by the sign test",
    )


def _not(held: dict[str, bool]) -> str:
    return listed([name for name, each in held.items() if not each])


def _best(part: Json, measure: str) -> str:
    """Return which of the document's methods has the best total."""
    found = among(comparison(part, measure), [published_name(part, name) for name in FOUR])
    return A_LAPLACE if found.best == A_LAPLACE_DOUBLE else found.best


def _count_best(published: Published, measure: str, method: str) -> int:
    """Return in how many of its cases the document has a method as the best, ties included."""
    count = 0
    for table in published.tables.values():
        for classifier in CLASSIFIERS:
            values = {name: table.rows[classifier, name][measure] for name in FOUR}
            known = {name: value for name, value in values.items() if value is not None}
            count += known[method] == min(known.values())
    return count


def _kept(part: Json, method: str) -> list[float]:
    kept: list[float] = next(iter(part["inputs"].values()))["kept"][method]
    return kept


def _squared(log_losses: list[float]) -> list[float]:
    return [(1 - math.exp(each)) ** 2 for each in log_losses]


def _intervals(found: dict[str, Interval]) -> str:
    return ", ".join(f"{written(each, '+.1f')} ({name})" for name, each in found.items())
