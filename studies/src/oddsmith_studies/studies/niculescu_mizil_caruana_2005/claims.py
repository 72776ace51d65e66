"""Verdicts on what the document claims of boosting and of calibration."""

from collections.abc import Mapping

import numpy as np

from oddsmith_studies.studies._claims import Claim, judge_all
from oddsmith_studies.studies._published import Published
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies._tables import written
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.grids import EXPONENTIAL, STUMPS, TREES, TWO_LEVELS
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.learner_claims import learner_claims
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.measured import (
    TEN,
    best,
    boosting_parts,
    difference,
    extreme_share,
    last_picture,
    learned,
    learning_curve,
    mean_loss,
)
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.methods import (
    COLUMNS,
    CROSS_ENTROPY,
    ISO,
    ISO_TRAIN,
    LOGIST,
    LOGLOSS,
    MEASURES,
    PLATT,
    PLATT_TRAIN,
    RAW,
    SQUARED_ERROR,
)
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.tasks import PROBLEMS

_FEW = 0.01
#: Shares that differ by no more than this are called the same.
_NEAR = 0.05
#: A few percent.
_SOME = 0.10
_PAIRED = "95 % interval of the paired difference on test rows, mean over problems"


def all_claims(results: Results) -> list[Claim]:
    """Return a verdict on each claim, in the order of their numbers."""
    published = results.published
    sixth, eleventh = learner_claims(results, published)
    return [
        _away_from_ends(results, published),
        _reductions(results, published),
        _corrections(results, published),
        _trees_beat_stumps(results, published),
        _sizes(results, published),
        sixth,
        _back_to_ends(results),
        _training_rows(results),
        _depth(results),
        _alike(results, published),
        eleventh,
        _both_measures(results),
    ]


def _away_from_ends(results: Results, published: Published) -> Claim:
    exception = published.figures["shown"]["exception"]
    pictures = {problem: last_picture(results, problem) for problem in PROBLEMS}
    raw = {problem: extreme_share(each["methods"][RAW]["histogram"]) for problem, each in pictures.items()}
    platt = {problem: extreme_share(each["methods"][PLATT]["histogram"]) for problem, each in pictures.items()}
    away = {problem: share < _FEW for problem, share in raw.items() if problem != exception}
    counts = np.array(pictures[exception]["methods"][RAW]["histogram"])
    edge = len(counts) // 20
    nearest, following = int(counts[:edge].sum()), int(counts[edge : 2 * edge].sum())
    sigmoid = {
        problem: slope - 1.96 * error > 1 for problem, (slope, error) in ((p, e["slope"]) for p, e in pictures.items())
    }
    return Claim(
        "9.4.1",
        f"After 1024 rounds boosted trees predict nothing near 0 or 1 but on {exception}, where the histogram drops "
        "sharply near 0; reliability diagrams are sigmoids on every problem.",
        f"said of eight problems, {exception} excepted; pictures",
        f"predictions below 0.05 or above 0.95, raw against Platt: {_shares(raw, platt)}; {exception} has {nearest} "
        f"predictions below 0.05 and {following} from there to 0.1; sigmoids on {sum(sigmoid.values())} of "
        f"{len(sigmoid)} problems",
        judge_all([*away.values(), raw[exception] >= _FEW, nearest < following, *sigmoid.values()]),
        f"nothing near is taken as less than {100 * _FEW:g} % of test rows; a sigmoid, as a slope of observed over "
        f"predicted log-odds that is surely above 1; near the ends: {_not(away)}; no sigmoid: {_not(sigmoid)}",
    )


def _shares(raw: Mapping[str, float], platt: Mapping[str, float]) -> str:
    return ", ".join(f"{problem} {100 * raw[problem]:.1f} / {100 * platt[problem]:.1f} %" for problem in raw)


def _key(measure: str) -> str:
    """Return the name of a measure in the published figures."""
    return measure.replace("-", "_").replace(" ", "_")


def _reductions(results: Results, published: Published) -> Claim:
    printed = published.figures["reductions"]
    cut_by = {key: [f"{100 * printed[key][base]:g} %" for base in (STUMPS, TREES)] for key in map(_key, MEASURES)}
    orders, near, found = [], [], []
    for measure in MEASURES:
        for base in (STUMPS, TREES):
            said = printed[_key(measure)][base]
            before = mean_loss(results, base, RAW, measure)
            cuts = {name: 1 - mean_loss(results, base, name, measure) / before for name in (PLATT, ISO)}
            orders += [difference(results, (base, name), (base, RAW), measure).high < 0 for name in cuts]
            near += [abs(cut - said) <= _NEAR for cut in cuts.values()]
            cut = ", ".join(f"{name} {100 * share:.1f} %" for name, share in cuts.items())
            found.append(f"{measure}, {base}: {cut} (document {100 * said:g} %)")
    return Claim(
        "9.4.2",
        "Platt scaling and isotonic regression cut the losses of boosted stumps and boosted trees: "
        + "; ".join(f"{measure} by {' and '.join(cut_by[_key(measure)])}" for measure in MEASURES)
        + ".",
        "; ".join(", ".join(shares) for shares in cut_by.values()),
        "; ".join(found),
        judge_all([*orders, *near]),
        f"a cut is sure on {sum(orders)} of {len(orders)} counts ({_PAIRED}); its size is within {100 * _NEAR:g} "
        f"points of the document's on {sum(near)}; three of the eight problems are stand-ins",
    )


def _corrections(results: Results, published: Published) -> Claim:
    printed = published.tables["cross_entropy"].rows
    loss = {base: {name: mean_loss(results, base, name, CROSS_ENTROPY) for name in COLUMNS} for base in _BASES}
    stumps = loss[STUMPS]
    held = {
        "stumps: LOGIST within a few % of PLATT": abs(stumps[LOGIST] / stumps[PLATT] - 1) <= _NEAR,
        "stumps: LOGLOSS a few % worse than PLATT": 0 < stumps[LOGLOSS] / stumps[PLATT] - 1 <= _SOME,
        "trees: LOGIST worse than RAW": difference(results, (TREES, LOGIST), (TREES, RAW), CROSS_ENTROPY).low > 0,
        "trees: LOGLOSS worse than RAW": difference(results, (TREES, LOGLOSS), (TREES, RAW), CROSS_ENTROPY).low > 0,
        "two-level trees: LOGIST worse than PLATT": difference(
            results, (TWO_LEVELS, LOGIST), (TWO_LEVELS, PLATT), CROSS_ENTROPY
        ).low
        > 0,
    }
    means = "; ".join(
        f"{base}: {', '.join(f'{name} {v:.4f}' for name, v in each.items())}" for base, each in loss.items()
    )
    said = "; ".join(
        f"{base}: {', '.join(f'{name} {value:.4f}' for name, value in printed['mean', base].items())}"
        for base in (STUMPS, TREES)
    )
    return Claim(
        "9.4.3",
        "Logistic Correction and boosting with log-loss work for stumps and fail for full trees; for two-level trees "
        "Logistic Correction is already less good than Platt scaling.",
        said,
        means,
        judge_all(list(held.values())),
        f"a few percent: {100 * _NEAR:g} for LOGIST, {100 * _SOME:g} for LOGLOSS; worse: {_PAIRED}; not so: "
        f"{_not(held)}",
    )


_BASES = (STUMPS, TWO_LEVELS, TREES)


def _trees_beat_stumps(results: Results, published: Published) -> Claim:
    found = {
        problem: difference(results, (TREES, PLATT), (STUMPS, PLATT), CROSS_ENTROPY, [problem]) for problem in PROBLEMS
    }
    better = [problem for problem, each in found.items() if each.high < 0]
    worse = [problem for problem, each in found.items() if each.low > 0]
    cuts = {
        measure: 1 - mean_loss(results, TREES, PLATT, measure) / mean_loss(results, STUMPS, PLATT, measure)
        for measure in MEASURES
    }
    overall = {measure: difference(results, (TREES, PLATT), (STUMPS, PLATT), measure) for measure in MEASURES}
    wins, printed = published.figures["wins"], published.figures["reductions"]
    below = {measure: f"{100 * printed[_key(measure)]['trees below stumps']:g} %" for measure in MEASURES}
    return Claim(
        "9.4.4",
        "Calibrated boosted trees beat calibrated stumps on most problems: on average by "
        + " and by ".join(f"{share} in {measure}" for measure, share in below.items())
        + ".",
        f"trees win on {wins['trees']}, stumps on {wins['stumps']} problems; {', '.join(below.values())}",
        f"trees surely better on {len(better)} ({', '.join(better)}), surely worse on {len(worse)} "
        f"({', '.join(worse) or 'none'}); on average "
        + ", ".join(f"{100 * cuts[measure]:.1f} % in {measure}" for measure in MEASURES),
        judge_all([2 * len(better) > len(PROBLEMS), *(each.high < 0 for each in overall.values())]),
        f"most: more than half, by the 95 % interval of each problem; on average: {_PAIRED}; both after Platt scaling; "
        "the sizes depend on which problems stand in and are not judged",
    )


def _sizes(results: Results, published: Published) -> Claim:
    limit = published.figures["calibration_cases"]["platt_is_better_below"]
    points = learning_curve(results)
    below = [point.platt_less_isotonic.high < 0 for point in points if point.size < limit]
    above = [point for point in points if point.size >= limit]
    helps = [point.platt_less_raw.high < 0 for point in points]
    crossing = [point.size for point in points if point.platt_less_isotonic.value > 0]
    later = ", ".join(f"{point.size}: {written(point.platt_less_isotonic, '+.4f')}" for point in above) or "none tried"
    return Claim(
        "9.4.5",
        f"With fewer than some {limit} calibration cases Platt scaling beats isotonic regression; calibration helps "
        "even at very small sizes.",
        f"below about {limit} cases; a picture",
        f"PLATT surely better on {sum(below)} of {len(below)} sizes below {limit}; surely better than no calibration "
        f"on {sum(helps)} of {len(helps)} sizes; PLATT less ISO from {limit} on: {later}; isotonic is ahead first at "
        f"{crossing[0] if crossing else 'no size'}",
        judge_all([*below, *helps]),
        "95 % intervals over trials of the mean over problems; that isotonic regression catches up later is only "
        "implied there, shown here, and not judged",
    )


def _back_to_ends(results: Results) -> Claim:
    held, coarse, found = {}, {}, []
    for problem in PROBLEMS:
        methods = last_picture(results, problem)["methods"]
        share = {name: extreme_share(each["histogram"]) for name, each in methods.items()}
        held[problem] = min(share[PLATT], share[ISO]) > share[RAW]
        coarse[problem] = 10 * methods[ISO]["distinct"] <= methods[PLATT]["distinct"]
        found.append(
            f"{problem} {100 * share[RAW]:.1f} → {100 * share[PLATT]:.1f} / {100 * share[ISO]:.1f} %, "
            f"{methods[PLATT]['distinct']} / {methods[ISO]['distinct']} values"
        )
    return Claim(
        "9.4.7",
        "Calibration moves predictions back to 0 and 1; histograms are smooth after Platt scaling and coarse after "
        "isotonic regression.",
        "pictures",
        f"predictions below 0.05 or above 0.95, raw → PLATT / ISO, and distinct predictions: {'; '.join(found)}",
        judge_all([*held.values(), *coarse.values()]),
        f"more near the ends after both on {sum(held.values())} problems; coarse, at most a tenth of Platt's distinct "
        f"values, on {sum(coarse.values())}; not nearer: {_not(held)}; not coarse: {_not(coarse)}",
    )


def _training_rows(results: Results) -> Claim:
    steps, worse = {}, {}
    for problem in PROBLEMS:
        parts = [part for part in boosting_parts(results, problem, TREES) if part["loss"] == EXPONENTIAL]
        steps[problem] = all(part["step_on_training_rows"] for part in parts)
        for name, other in ((PLATT_TRAIN, PLATT), (ISO_TRAIN, ISO)):
            first, second = (best(results, problem, TREES, each, CROSS_ENTROPY).test for each in (name, other))
            gap = first[CROSS_ENTROPY][0] - second[CROSS_ENTROPY][0]
            worse[f"{problem}, {name}"] = gap > 1.96 * float(
                np.hypot(first[CROSS_ENTROPY][1], second[CROSS_ENTROPY][1])
            )
    means = {name: mean_loss(results, TREES, name, CROSS_ENTROPY) for name in (PLATT_TRAIN, PLATT, ISO_TRAIN, ISO)}
    return Claim(
        "9.4.8",
        "Calibrating boosted trees on the rows that they were trained on fails: isotonic regression says 0 and 1 only.",
        "said without a figure",
        f"0 and 1 only on {sum(steps.values())} of {len(steps)} problems after the last round; mean cross-entropy "
        + ", ".join(f"{name} {value:.4f}" for name, value in means.items()),
        judge_all([*steps.values(), *worse.values()]),
        f"worse than three folds, by intervals that do not know of pairs, on {sum(worse.values())} of {len(worse)} "
        f"counts; not so: {_not(steps | worse)}; each was selected on validation rows, which spares it the worst",
    )


def _depth(results: Results) -> Claim:
    found = {
        (measure, pair): difference(results, (pair[0], PLATT), (pair[1], PLATT), measure)
        for measure in MEASURES
        for pair in ((TWO_LEVELS, STUMPS), (TREES, TWO_LEVELS))
    }
    return Claim(
        "9.4.9",
        "After calibration stumps are worse than two-level trees, and these than full trees, on average.",
        "a footnote, without figures",
        "; ".join(f"{m}, {a} less {b}: {written(each, '+.4f')}" for (m, (a, b)), each in found.items()),
        judge_all([each.high < 0 for each in found.values()]),
        f"after Platt scaling; {_PAIRED}",
    )


def _alike(results: Results, published: Published) -> Claim:
    loss = {base: {name: mean_loss(results, base, name, CROSS_ENTROPY) for name in COLUMNS} for base in (STUMPS, TREES)}
    changes = {
        name: [
            best(results, problem, base, name, CROSS_ENTROPY).test[CROSS_ENTROPY][0]
            / best(results, problem, base, PLATT, CROSS_ENTROPY).test[CROSS_ENTROPY][0]
            - 1
            for base in (STUMPS, TREES)
            for problem in PROBLEMS
        ]
        for name in (LOGIST, LOGLOSS)
    }
    likeness = float(np.corrcoef(changes[LOGIST], changes[LOGLOSS])[0, 1])
    rows = published.tables["cross_entropy"].rows
    said = ", ".join(f"{base} {rows['mean', base][LOGIST]} / {rows['mean', base][LOGLOSS]}" for base in (STUMPS, TREES))
    held = [loss[STUMPS][name] < loss[STUMPS][RAW] for name in (LOGIST, LOGLOSS)]
    held += [loss[TREES][name] / loss[TREES][PLATT] - 1 > _SOME for name in (LOGIST, LOGLOSS)]
    return Claim(
        "9.4.10",
        "Logistic Correction and boosting with log-loss behave alike, for stumps and for trees.",
        f"mean cross-entropy LOGIST / LOGLOSS: {said}",
        ", ".join(f"{base} {each[LOGIST]:.4f} / {each[LOGLOSS]:.4f}" for base, each in loss.items())
        + f"; correlation of their losses relative to PLATT, over problems and bases, {likeness:.2f}",
        judge_all(held),
        f"alike: on average both below RAW for stumps, and both more than {100 * _SOME:g} % above PLATT for trees",
    )


def _both_measures(results: Results) -> Claim:
    orders = {
        (base, measure): sorted(COLUMNS, key=lambda name: mean_loss(results, base, name, measure))
        for base in (STUMPS, TREES)
        for measure in MEASURES
    }
    same = [set(orders[base, CROSS_ENTROPY][:2]) == set(orders[base, SQUARED_ERROR][:2]) for base in (STUMPS, TREES)]
    same += [orders[base, CROSS_ENTROPY][-1] == orders[base, SQUARED_ERROR][-1] for base in (STUMPS, TREES)]
    ranks = [
        np.argsort(np.argsort([learned(results, learner, measure).after.value for learner in TEN]))
        for measure in MEASURES
    ]
    likeness = float(np.corrcoef(ranks[0], ranks[1])[0, 1])
    return Claim(
        "9.4.12",
        "Squared error tells the same story in Table 2, and cross-entropy in Figure 6.",
        "said without figures",
        "; ".join(f"{base} by {measure}: {' < '.join(names)}" for (base, measure), names in orders.items())
        + f"; rank correlation of ten calibrated learners {likeness:.2f}",
        judge_all([*same, likeness > 0.9]),
        "the same: the same two best and the same worst column for stumps and trees, and a rank correlation of "
        "learners above 0.9",
    )


def _not(held: Mapping[str, bool]) -> str:
    return "; ".join(name for name, true in held.items() if not true) or "none"
