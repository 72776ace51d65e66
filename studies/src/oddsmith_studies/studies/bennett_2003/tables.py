"""Tables of the study: the document's methods, pairwise wins, every method, and every reading of the text."""

from oddsmith_studies.studies._published import Published
from oddsmith_studies.studies._study import Json, Results
from oddsmith_studies.studies._tables import Cell, Column, Table
from oddsmith_studies.studies._text_features import RECIPES as TEXT_RECIPES
from oddsmith_studies.studies._text_features import REUTERS
from oddsmith_studies.studies._text_methods import (
    A_GAUSS,
    A_LAPLACE,
    GAUSS,
    GROWN,
    GUARDED,
    HYBRID,
    LAPLACE,
    LR,
    NOISE,
    PLR,
    RAW,
)
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
from oddsmith_studies.studies.bennett_2003.parts import CLASSIFIERS, CORPORA, RECIPES, VARIANTS

#: The document's methods, in its order.
SEVEN = (GAUSS, A_GAUSS, LAPLACE, A_LAPLACE, LR, NOISE, RAW)
#: What it proposes for later, and a guard against spikes of ours.
LATER = (HYBRID, PLR, GROWN, GUARDED)


def all_tables(results: Results) -> list[Table]:
    """Return all tables."""
    published = results.published
    return [
        *(_document(corpus, results, published) for corpus in CORPORA),
        _wins(results),
        _perceptron(results),
        _variants(results),
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
        part = results[part_name("main", corpus, PERCEPTRON)]
        sums = totals(part)
        rows += [[corpus, method, *(sums[method][measure] for measure in MEASURES)] for method in (*SEVEN, *LATER)]
    return Table(
        "perceptron",
        "Future work: the score of a voted perceptron",
        ("corpus", "method", *(Column(measure, FORMATS[measure]) for measure in MEASURES)),
        rows,
        "The score is the log ratio of the votes for and against, with ½ added to both, after one pass over the "
        "training documents. Where all perceptrons agree it grows with the number of documents, so that such a score "
        "of the classifier in use lies beyond all scores of the folds, and beyond any spike at the edge of a class. "
        f"{STAND_IN}",
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
                [classifier, recipe, measure, *(sums[method][measure] for method in SEVEN)] for measure in MEASURES
            ]
    return Table(
        "variants",
        "Reuters-21578 by other readings of the document",
        ("classifier", "reading", "measure", *(Column(method, ".1f") for method in SEVEN)),
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
