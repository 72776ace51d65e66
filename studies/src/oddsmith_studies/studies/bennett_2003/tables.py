"""Tables of the study: the document's methods, pairwise wins, every method, and every reading of the text."""

import numpy as np

from oddsmith_studies.studies._claims import OWN, judge
from oddsmith_studies.studies._published import Published
from oddsmith_studies.studies._study import Json, Results
from oddsmith_studies.studies._tables import Cell, Column, Table, written
from oddsmith_studies.studies._text_features import RECIPES as TEXT_RECIPES
from oddsmith_studies.studies._text_features import REUTERS
from oddsmith_studies.studies._text_methods import A_LAPLACE, LR, RAW
from oddsmith_studies.studies._text_parts import part_name
from oddsmith_studies.studies._text_results import (
    FORMATS,
    MEASURES,
    STAND_IN,
    TotalsComparison,
    all_methods_table,
    among,
    comparison,
    total,
    totals,
)
from oddsmith_studies.studies._text_scores import BAYES, PERCEPTRON
from oddsmith_studies.studies.bennett_2003.evidence import all_evidence
from oddsmith_studies.studies.bennett_2003.parts import (
    CLASSIFIERS,
    CORPORA,
    LATER,
    RECIPES,
    SEVEN,
    VARIANTS,
    readings_of,
)

#: Log-likelihoods this close are the same.
_REACHED = 0.01


def all_tables(results: Results) -> list[Table]:
    """Return all tables."""
    published = results.published
    return [
        *(_document(corpus, results, published) for corpus in CORPORA),
        _wins(results),
        _perceptron(results),
        _variants(results),
        _stability(results),
        _joint(results),
        *(
            all_methods_table(
                f"methods-{_slug(corpus)}",
                f"{corpus}: all methods of both papers, with Bennett's features",
                [*parts_of(results, corpus), results[part_name("main", corpus, PERCEPTRON)]],
                "" if corpus == REUTERS else STAND_IN,
            )
            for corpus in CORPORA
        ),
        _sure(results),
    ]


def parts_of(results: Results, corpus: str) -> list[Json]:
    """Return the results of both of the document's classifiers on a corpus."""
    return [results[part_name("main", corpus, classifier)] for classifier in CLASSIFIERS]


def seven(part: Json, measure: str, protocol: str = "B03") -> TotalsComparison:
    """Return the comparison of the document's methods."""
    return among(comparison(part, measure, protocol=protocol), SEVEN)


def _slug(corpus: str) -> str:
    return corpus.split()[0].lower()


def _document(corpus: str, results: Results, published: Published) -> Table:
    printed = published.figures["marks"]["reuters"] if corpus == REUTERS else None
    rows: list[list[Cell]] = []
    for part in parts_of(results, corpus):
        views = {measure: seven(part, measure) for measure in MEASURES}
        raw = RAW if part["classifier"] == BAYES else None
        for method in SEVEN:
            cells: list[Cell] = [part["classifier"], method]
            for view in views.values():
                cells += [total(view, method), view.mark(method, raw) if method in view.names else ""]
            if printed is not None:
                marked = [measure for name, measure in printed if name == part["classifier"] and method == A_LAPLACE]
                cells.append(", ".join(marked))
            rows.append(cells)
    columns: list[str | Column] = ["classifier", "method"]
    for measure in MEASURES:
        columns += [Column(measure, FORMATS[measure]), f"{measure}, mark"]
    note = (
        "Sums over all decisions; for log-loss, Σ log P(true class), larger is better. * beats all others, † all but "
        f"the raw classifier, ‡ all but one or two: micro sign test, level "
        f"{published.figures['level']['value']:g}. The document's figures are lost in our copy, and "
        "bold and underline with them"
    )
    if printed is not None:
        columns.append("marked in the document")
        note += f"; its marks are left. {published.figures['marks']['where']}."
    else:
        note += f". {STAND_IN} MSN Web was never public."
    return Table(
        f"totals-{_slug(corpus)}", f"{corpus}: the document's table, {_words(corpus)} words", columns, rows, note
    )


def _words(corpus: str) -> str:
    return f"{TEXT_RECIPES[RECIPES[corpus]].words:,}"


def _wins(results: Results) -> Table:
    rows: list[list[Cell]] = []
    for corpus in CORPORA:
        for part in parts_of(results, corpus):
            for other in (*SEVEN, *LATER):
                if other == A_LAPLACE:
                    continue
                cells: list[Cell] = [corpus, part["classifier"], other]
                for measure in ("log-loss", "errors"):
                    view = comparison(part, measure, protocol="B03")
                    cells += _wins_against(view, other)
                rows.append(cells)
    counts = [
        Column(f"{measure}, {what}", form, measure)
        for measure in ("log-loss", "errors")
        for what, form in (("wins", ".0f"), ("losses", ".0f"), ("ties", ".0f"), ("p", ".2g"))
    ]
    return Table(
        "wins",
        "A. Laplace against every other method, decision by decision",
        ("corpus", "classifier", "against", *counts),
        rows,
        f"Wins of A. Laplace. On squared error they are the same as on log-loss. {STAND_IN}",
    )


def _wins_against(view: TotalsComparison, other: str) -> list[Cell]:
    if other not in view.names:
        return [None] * 4
    i, j = view.names.index(A_LAPLACE), view.names.index(other)
    return [float(view.wins[i, j]), float(view.wins[j, i]), float(view.ties[i, j]), float(view.p_values[i, j])]


def _perceptron(results: Results) -> Table:
    rows: list[list[Cell]] = []
    for corpus in CORPORA:
        counted, shared = (
            totals(results[part_name(group, corpus, PERCEPTRON)]) for group in ("main", "variant-shares")
        )
        rows += [
            [corpus, method, *(sums[method][measure] for sums in (counted, shared) for measure in MEASURES)]
            for method in (*SEVEN, *LATER)
        ]
    columns = [
        Column(f"{measure}, {votes}", FORMATS[measure], votes) for votes in ("counts", "shares") for measure in MEASURES
    ]
    return Table(
        "perceptron",
        "Future work: the score of a voted perceptron",
        ("corpus", "method", *columns),
        rows,
        "The score is the log ratio of the votes for and against, with ½ added to both, after one pass over the "
        "training documents. Counts: a unanimous vote grows with the number of documents, so that scores of the "
        "classifier in use lie beyond all scores of the folds, and beyond any spike at the edge of a class. Shares: "
        "votes are scaled to the number of documents of a fold first, a reading that was fixed before its totals were "
        f"looked at. {STAND_IN}",
    )


def _stability(results: Results) -> Table:
    """Return the verdicts on Reuters by the reading of the support vector machine."""
    readings = {
        "main": "",
        **{recipe.removeprefix("Bennett, "): name for name, recipe in readings_of(results.setting).items()},
    }
    judged = {
        title: {claim.id: claim for claim in judge("bennett-2003", all_evidence(results, name)) if claim.data == OWN}
        for title, name in readings.items()
    }
    rows: list[list[Cell]] = [
        [number, claim.text, *(found[number].verdict for found in judged.values())]
        for number, claim in judged["main"].items()
        if claim.verdict != "cannot be tested"
    ]
    return Table(
        "stability",
        "Verdicts on Reuters by the reading of the support vector machine",
        ("claim", "statement", *readings),
        rows,
        "Naive Bayes has its one reading throughout. Each reading is judged on its own draws of folds by the same "
        "rules; the first column has the verdicts above.",
    )


def _joint(results: Results) -> Table:
    rows: list[list[Cell]] = []
    for classifier in CLASSIFIERS:
        found = results[part_name("joint", REUTERS, classifier)]
        short = [max(shortfall, 0.0) for shortfall, _, _ in found]
        rows.append(
            [
                classifier,
                len(found),
                sum(spike for _, _, spike in found),
                sum(shortfall <= _REACHED for shortfall in short),
                float(np.median(short)),
                max(short),
                float(np.median([evaluations for _, evaluations, _ in found])),
            ]
        )
    return Table(
        "joint",
        "All three parameters at once, against the closed form at every mode",
        (
            "classifier",
            Column("fits", "d"),
            Column("mode at an edge", "d"),
            Column("likelihood reached", "d"),
            Column("median shortfall, nats", ".3f"),
            Column("largest shortfall, nats", ".1f"),
            Column("likelihoods evaluated, median", ".0f"),
        ),
        rows,
        "One fit per class and category of Reuters. A simplex search from the median, with equal rates, maximizes the "
        f"likelihood of an asymmetric Laplace distribution; reached: within {_REACHED:g} nats of the closed form, "
        "which goes through all modes once.",
    )


def _variants(results: Results) -> Table:
    rows: list[list[Cell]] = []
    for classifier in CLASSIFIERS:
        found = {RECIPES[REUTERS]: results[part_name("main", REUTERS, classifier)]}
        for name, recipe in VARIANTS.items():
            part = part_name(f"variant-{name}", REUTERS, classifier)
            if part in results:
                found[recipe] = results[part]
        for recipe, part in found.items():
            sums = totals(part)
            rows += [
                [classifier, recipe, measure, *(written(sums[method][measure], FORMATS[measure]) for method in SEVEN)]
                for measure in MEASURES
            ]
    return Table(
        "variants",
        "Reuters-21578 by other readings of the document",
        ("classifier", "reading", "measure", *SEVEN),
        rows,
        "The first reading is the one that was fixed beforehand; none was chosen by its totals.",
    )


def _sure(results: Results) -> Table:
    rows: list[list[Cell]] = []
    for corpus in CORPORA:
        for part in parts_of(results, corpus):
            found = part["inputs"]["score"]
            raw = found["extreme"] if part["classifier"] == BAYES else None
            for method in SEVEN:
                if method == RAW and raw is None:
                    continue
                worst = found["worst"][method]
                rows.append(
                    [
                        corpus,
                        part["classifier"],
                        method,
                        100 * worst["largest_share"],
                        *(value for pair in worst["without"].values() for value in pair),
                    ]
                )
    shares = list(results[part_name("main", REUTERS, BAYES)]["inputs"]["score"]["worst"][LR]["without"])
    columns = [
        Column(f"{who}, without {100 * float(share):g} %", ".1f", share)
        for share in shares
        for who in ("method", "A. Laplace")
    ]
    return Table(
        "outliers",
        "How much single decisions weigh in the log-loss",
        ("corpus", "classifier", "method", Column("share of the worst decision, %", ".1f"), *columns),
        rows,
        "Totals without the decisions that cost the method most; the total of A. Laplace leaves out the same ones. "
        f"{STAND_IN}",
    )
