"""The index of all studies: every claim of every document in one line."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from oddsmith.atomic import write_atomically
from oddsmith_studies.studies._claims import KINDS, Verdict, rules
from oddsmith_studies.studies._record import FILE, Record, read_record
from oddsmith_studies.studies._run import list_studies
from oddsmith_studies.studies._tables import Cell, Column, Table

_WORDS: tuple[Verdict, ...] = get_args(Verdict)

_HEAD = """\
# Studies: every claim of the five documents

Each study repeats the experiments of a document on its data, or on public stand-ins for data that are private or
licensed; the two are judged apart. A verdict is *holds*, *fails*, *undecided* (the test has no power, or the
direction is not significant), *cannot be tested* (the data are not available) or *not run* (the kept run is older than
the rule, and has not measured what it is about). [The rules](rules.md) quote the sentences that they judge, and show
what the first rules were and what they gave.

A claim has the number of its place in our specification: 9.1 to 9.4 are the four papers in the order of the tables
below, 9.5 the questions of the course project, 5.1 what the papers state about calibration scores, B why boosting
distorts, M the motives of the papers as experiments, and S our own questions about the map of calibrators. A letter
separates claims that stand in one sentence.

All pages have [one set of symbols](../understand/index.md#symbols); where a document has others, its page names them.
"""
_RULES_HEAD = """\
# The rules of all verdicts

They stand in one file, `studies/src/oddsmith_studies/studies/expected/verdicts.toml`, whose head explains how words
of size and quantifiers are read. The first rules were written when the first full runs were known. These replaced them
when all results by the first rules were known, and before anything was run on fresh folds; each row shows the rule that
was replaced, and what it gave. All cases of a claim are combined by partial conjunction (Benjamini and Heller 2008):
with 2.5 % in each direction, "in at least one case" needs Bonferroni's correction, "in every case" none. Before, one
case was enough for "some" and one exception against "every", without a correction.
"""
#: Three sentences about each document.
_OPENINGS = {
    "zhang-yang-2004": (
        "It proposes to calibrate scores of text classifiers by three lines that meet (PLR), fitted to the log-odds. "
        "On Reuters-21578 and TREC-AP this has a better log-loss than one line and than asymmetric Laplace densities. "
        "TREC-AP is licensed; 20 Newsgroups and OHSUMED stand in for it."
    ),
    "bennett-2003": (
        "It proposes asymmetric densities for the scores of each class, above all the asymmetric Laplace. "
        "They are compared with symmetric densities and with logistic regression for naive Bayes and a support vector "
        "machine on three corpora. Our copy has lost all figures and formulas, and two corpora are not available."
    ),
    "platt-1999": (
        "It fits a sigmoid to the outputs of a support vector machine. "
        "Errors and likelihood are compared with those of a kernel machine trained for its likelihood, on five tasks. "
        "All three data sets are public, but the document's training sizes are not known."
    ),
    "niculescu-mizil-caruana-2005": (
        "It shows that boosting pushes predictions away from 0 and 1, and repairs that by four methods. "
        "They are compared on eight problems, and calibrated boosted trees with nine other learners. "
        "Five problems are public; three are private and have stand-ins."
    ),
    "why-boosting": (
        "The paper above explains why boosting distorts, from the literature and without figures. "
        "Margins and slopes are followed over rounds here, and ten learners judged by seven measures. "
        "The problems are the document's own five."
    ),
    "course-project": (
        "An exercise on how well squashed margins, Platt scaling and isotonic regression are calibrated. "
        "It uses 3,000 sentences with sentiment labels. "
        "It claims nothing, so that all rows are questions."
    ),
    "protocols": (
        "The papers warn of calibration scores from the training rows, of leave-one-out and of too few folds. "
        "Each warning is tried on Reuters, Adult and Letter. "
        "All data are the papers'."
    ),
    "motives": (
        "Platt's and Bennett's papers name uses of probabilities: costs, combination, active learning. "
        "Each motive is an experiment here. "
        "The papers run none, so that all rows are questions."
    ),
    "summary": (
        "A study of our own: which calibrator is best for which classifier, calibration size and share of positives. "
        "It covers all data sets of the other studies. "
        "All rows are questions."
    ),
}


def write_index(folder: str | os.PathLike[str]) -> list[Path]:
    """Write ``index.md``, and ``rules.md`` with all rules, for the studies whose results lie in folders of a folder."""
    root = Path(folder)
    records = [
        read_record(root / study.name, study.published)
        for study in list_studies()
        if (root / study.name / FILE).is_file()
    ]
    contents = {root / "index.md": index_page(records), root / "rules.md": rules_page()}
    for path, content in contents.items():
        write_atomically(path, content, force=True)
    return list(contents)


def index_page(records: Sequence[Record]) -> str:
    """Return the index in Markdown: statements of each document, patterns of its tables, and questions of our own."""
    pages = [f"{_HEAD}\n{_counts(records).to_markdown()}"]
    for record in sorted(records, key=lambda record: list(_OPENINGS).index(record.study)):
        pages.append(f"## [{record.title}]({record.study}/index.md)\n\n{_OPENINGS[record.study]}")
        for kind, title in KINDS.items():
            rows = [
                (each.id, each.text, each.data, each.published, each.ours, each.verdict)
                for each in record.claims
                if each.kind == kind
            ]
            columns = ("claim", "statement", "tested on", "published", "ours", "verdict")
            if rows:
                pages.append(Table(f"{record.study}-{kind}", title, columns, rows).to_markdown())
    return "\n\n".join(pages) + "\n"


def rules_page() -> str:
    """Return all rules in Markdown, with the sentences that they judge and the rules that they replaced."""
    book = rules().values()
    pages = [_RULES_HEAD]
    for study in list_studies():
        rows = [
            (each.id, each.quote or each.text, each.sentence, each.before or "the same")
            for each in book
            if each.study == study.name
        ]
        columns = ("claim", "the document's sentence, or else the claim", "rule", "rule before, and its verdicts")
        pages.append(Table(study.name, study.title, columns, rows).to_markdown())
    return "\n\n".join(pages) + "\n"


def _counts(records: Sequence[Record]) -> Table:
    rows: list[list[Cell]] = []
    for record in sorted(records, key=lambda record: list(_OPENINGS).index(record.study)):
        for kind, title in KINDS.items():
            if found := [claim.verdict for claim in record.claims if claim.kind == kind]:
                name = f"[{record.title}]({record.study}/index.md)"
                rows.append([name, title.lower(), *(found.count(word) for word in _WORDS)])
    columns: list[str | Column] = ["study", "kind", *(Column(word, "d") for word in _WORDS)]
    return Table("verdicts", "Verdicts by study", columns, rows)
