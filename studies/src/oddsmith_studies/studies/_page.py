"""The page of a study: five lines, the table and the picture that show them, how to run it, the verdicts, the rest."""

import html
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, get_args

from oddsmith import checks
from oddsmith_studies.studies._claims import EDITION, KINDS, Measured, Verdict, claims_table, rules
from oddsmith_studies.studies._record import Record
from oddsmith_studies.studies._tables import Cell, Column, Table

_MARK = re.compile(r"^\{\{ (table|figure|run|verdicts)(?: (\S+))? \}\}$", re.MULTILINE)
_FACT = re.compile(r"(?<!\{)\{(\w+)\}(?!\})")
_FOLD = re.compile(r"^\{\{ fold (.+) \}\}$", re.MULTILINE)
_END = re.compile(r"^\{\{ end \}\}$", re.MULTILINE)

_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; display: block; overflow-x: auto; font-size: 0.875rem; }}
th, td {{ padding: 0.25rem 0.75rem; border-bottom: 1px solid #8884; text-align: left; vertical-align: top; }}
img {{ max-width: 100%; background: #fff; }}
summary {{ cursor: pointer; padding: 0.25rem 0; }}
</style>
</head>
<body>
"""


def read_template(name: str) -> str:
    """Read ``pages/<name>.md``, what the page of a study says around its tables and pictures.

    A line ``{{ table NAME }}`` or ``{{ figure NAME }}`` puts one there, ``{{ run }}`` how to run the study and
    ``{{ verdicts }}`` what was found of each claim; the lines ``{{ fold TITLE }}`` and ``{{ end }}`` fold what is
    between them. ``{NAME}`` is a sentence or a number of the run. What is put nowhere is linked at the end.
    """
    file = files("oddsmith_studies.studies").joinpath("pages", f"{name}.md")
    if not file.is_file():
        checks.fail(f"study {name!r} must have a page", "no file", f"write pages/{name}.md")
    return file.read_text(encoding="utf-8")


def write_page(record: Record, template: str, facts: Mapping[str, str]) -> str:
    """Return the page in Markdown; pictures lie in the folder ``figures`` next to it."""
    blocks = {("table", name): table.to_markdown() for name, table in record.tables.items()}
    blocks |= {("figure", name): _picture(name, caption) for name, caption in record.captions.items()}
    wanted = {("run", ""): _made(record), ("verdicts", ""): _verdicts(record)}
    placed = set()

    def fill(mark: re.Match[str]) -> str:
        key = (mark[1], mark[2] or "")
        if key not in blocks | wanted:
            names = ", ".join(name for kind, name in blocks if kind == mark[1])
            checks.fail(f"a page must name a {mark[1]} that the study has", mark[2], f"one of {names}")
        placed.add(key)
        return (blocks | wanted)[key]

    said = _MARK.sub(fill, _unwrapped(_say(template, facts)))
    rest = [_link(*key, record) for key in blocks if key not in placed]
    ending = ["## More tables", "\n".join(rest)] if rest else []
    whole = re.sub(r"\n{3,}", "\n\n", "\n\n".join([f"# {record.title}", said.strip(), *ending]))
    return _END.sub("</details>", _FOLD.sub(_open_fold, whole)) + "\n"


def _say(template: str, facts: Mapping[str, str]) -> str:
    """Put sentences and numbers in their places; each must have one."""
    names = set(_FACT.findall(template))
    if odd := sorted(names ^ set(facts)):
        checks.fail("a page must use the facts of its study, each of them", odd[0], "add it, or take it away")
    return _FACT.sub(lambda mark: facts[mark[1]], template)


def _unwrapped(text: str) -> str:
    """Return text with one line per paragraph and item, and no space where a fact says nothing."""
    return re.sub(r" +$", "", re.sub(r"(?<=\S) *\n *(?=\S)(?!- |\{\{)", " ", text), flags=re.MULTILINE)


def to_html(title: str, markdown: str) -> str:
    """Return the page in HTML."""
    from markdown_it import MarkdownIt

    # Only pages of this package come here: the tags in them are its own folds.
    body = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    return f"{_HEAD.format(title=html.escape(title))}{body}</body>\n</html>\n"


def _picture(name: str, caption: str) -> str:
    return f"![{name}](figures/{name}.svg)\n\n*{caption}*"


def _link(kind: str, name: str, record: Record) -> str:
    if kind == "table":
        return f"- [{record.tables[name].title}](tables/{name}.csv)"
    return f"- [{record.captions[name]}](figures/{name}.svg)"


def _open_fold(mark: re.Match[str]) -> str:
    return f"<details>\n<summary>{html.escape(mark[1], quote=False)}</summary>"


def _verdicts(record: Record) -> str:
    """Return the verdicts, how many there are of each, and where the rules stand."""
    if not record.claims:
        return ""
    words = get_args(Verdict)
    found = [claim.verdict for claim in record.claims]
    counts = ", ".join(f"{word}: {found.count(word)}" for word in words if word in found)
    said = (
        f"{counts}. One row per claim and kind of data; numbers are explained in [the index](../index.md). "
        "[The rules](../rules.md) quote the sentences that they judge. They were rewritten when all earlier results "
        "were known, and show what the earlier rules gave. *Undecided* means that the test has no power, or that the "
        "direction is not significant. Intervals have 95 %, with decisions about one document taken together. "
        "[Every measurement behind the verdicts](tables/evidence.csv)."
    )
    tables = [
        claims_table([claim for claim in record.claims if claim.kind == kind], kind, title).to_markdown()
        for kind, title in KINDS.items()
        if any(claim.kind == kind for claim in record.claims)
    ]
    return "\n\n".join(["## Verdicts", said, *tables])


def evidence_table(record: Record) -> Table:
    """Return what was measured in every case."""
    book = rules()
    rows: list[list[Cell]] = [
        [number, case.data, case.name, _number(case.value), book[number].outcome(case.value)]
        for number in book
        for case in record.evidence.get(number, ())
    ]
    columns = ("claim", "tested on", "case", Column("measured", ".4g"), "outcome")
    note = "The rule of a claim, above, states what is measured and where it must lie. Intervals are of 95 %."
    return Table("evidence", "Every measurement behind the verdicts", columns, rows, note)


def _number(value: Measured) -> Cell:
    return int(value) if isinstance(value, bool) else None if isinstance(value, str) else value


def _made(record: Record) -> str:
    made = record.made
    quick = " A quick run, on less data: its figures are not those of the study." if made["quick"] else ""
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    sets = ", ".join(f"{name} (`{digest[:12]}`)" for name, digest in made["data"].items()) or "none"
    odd = ", ".join(f"{kind} {times} times" for kind, times in made["odd"].items()) or "none"
    judged = made.get("judged")
    later = [_judged(judged)] if judged else [] if made.get("rules") == EDITION else [_EARLIER]
    return "\n".join(
        [
            "## Run it",
            "",
            f"    {made['command']}",
            "",
            f"- Seed {made['seed']}, study version {made['version']}, {made['parts']} parts; `run.json` holds the "
            f"seconds of each part.{quick}",
            *later,
            f"- Data sets, with the digest of their files: {sets}.",
            f"- Warnings during fits: {odd}.",
            f"- {versions}.",
            f"- Document: {made['document']} Published figures from {made['source']}.",
        ]
    )


_EARLIER = (
    "- This run was made before the rules were rewritten and has not been repeated since: verdicts apply the new rules "
    "to what it measured, and claims whose quantity it did not keep are *not run*."
)


def _judged(how: Mapping[str, Any]) -> str:
    """Say how the measurements behind the verdicts were made, where they are of another run than the tables."""
    first, draws = how["seed"], how.get("draws", 1)
    seeds, each = (f"seed {first}", "") if draws == 1 else (f"seeds {first} to {first + draws - 1}", " each")
    return (
        f"- Verdicts rest on a later run, `{how['command']}`: {seeds}, study version {how['version']}, "
        f"{how['parts']} parts{each}, {how['seconds']:,.0f} s. Tables and pictures are of the run above, on other "
        "folds."
    )
