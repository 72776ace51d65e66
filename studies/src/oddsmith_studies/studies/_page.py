"""The page of a study: five lines, the table and the picture that show them, how to run it, the verdicts, the rest."""

import html
import re
from typing import NamedTuple

from oddsmith import checks
from oddsmith_studies.studies._claims import Measured, claims_table, rules
from oddsmith_studies.studies._record import Record
from oddsmith_studies.studies._tables import Cell, Column, Table

_MARK = re.compile(r"^\{\{ (table|figure) (\S+) \}\}$", re.MULTILINE)
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


class Story(NamedTuple):
    """What a page says.

    Attributes
    ----------
    claims, found, unchecked : str
        What the document claims, what we found, and what could not be checked, in one or two sentences each.
    table, shows : str
        The one table that shows it, by name, and what it shows.
    figure, draws : str
        The one picture that shows it, by name, and what it shows; a study without pictures has none.
    body : str
        Everything else in Markdown. A line ``{{ table NAME }}`` or ``{{ figure NAME }}`` puts one there; the lines
        ``{{ fold TITLE }}`` and ``{{ end }}`` fold what is between them. What is put nowhere is folded at the end.
    """

    claims: str
    found: str
    table: str
    shows: str
    figure: str
    draws: str
    unchecked: str
    body: str


def write_page(record: Record, story: Story) -> str:
    """Return the page in Markdown; pictures lie in the folder ``figures`` beside it."""
    blocks = {("table", name): table.to_markdown() for name, table in record.tables.items()}
    blocks |= {("figure", name): _picture(name, caption) for name, caption in record.captions.items()}
    placed = set()

    def fill(mark: re.Match[str]) -> str:
        key = (mark[1], mark[2])
        if key not in blocks:
            names = ", ".join(name for kind, name in blocks if kind == mark[1])
            checks.fail(f"a story must name a {mark[1]} that the study has", mark[2], f"one of {names}")
        placed.add(key)
        return blocks[key]

    opening = _MARK.sub(fill, _opening(story))
    body = _MARK.sub(fill, story.body.strip())
    rest = [_fold(_title(*key, record), block) for key, block in blocks.items() if key not in placed]
    verdicts = ["## Verdicts", _counts(record), claims_table(record.claims).to_markdown()] if record.claims else []
    more = [_fold("Every measurement behind the verdicts", _evidence(record).to_markdown())] if record.claims else []
    if rest:
        more = [*rest, *more]
    ending = ["## Everything else", *more] if more else []
    whole = [f"# {record.title}", opening, "## Run it", _made(record), *verdicts, body, *ending]
    return _END.sub("</details>", _FOLD.sub(_open_fold, "\n\n".join(filter(None, whole)))) + "\n"


def to_html(title: str, markdown: str) -> str:
    """Return the page in HTML."""
    from markdown_it import MarkdownIt

    # Only pages of this package come here: the tags in them are its own folds.
    body = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    return f"{_HEAD.format(title=html.escape(title))}{body}</body>\n</html>\n"


def _opening(story: Story) -> str:
    lines = {
        "The document claims": story.claims,
        "We found": story.found,
        "The table that shows it": story.shows,
        "The picture that shows it": story.draws,
        "Could not be checked": story.unchecked,
    }
    said = "\n".join(f"- **{name}:** {' '.join(text.split())}" for name, text in lines.items())
    picture = f"\n\n{{{{ figure {story.figure} }}}}" if story.figure else ""
    return f"{said}\n\n{{{{ table {story.table} }}}}{picture}"


def _picture(name: str, caption: str) -> str:
    return f"![{name}](figures/{name}.svg)\n\n*{caption}*"


def _title(kind: str, name: str, record: Record) -> str:
    return record.tables[name].title if kind == "table" else f"Picture: {name}"


def _fold(title: str, block: str) -> str:
    return f"{{{{ fold {title} }}}}\n\n{block}\n\n{{{{ end }}}}"


def _open_fold(mark: re.Match[str]) -> str:
    return f"<details>\n<summary>{html.escape(mark[1], quote=False)}</summary>"


def _counts(record: Record) -> str:
    words = ("holds", "fails", "undecided", "cannot be tested")
    found = [claim.verdict for claim in record.claims]
    counts = ", ".join(f"{word}: {found.count(word)}" for word in words if word in found)
    return (
        f"{counts}. One row per claim and kind of data. Rules and thresholds of all claims are in "
        "`studies/src/oddsmith_studies/studies/expected/verdicts.toml`; *undecided* means that the test has no power, "
        "or that the direction is not significant."
    )


def _evidence(record: Record) -> Table:
    book = rules()
    rows: list[list[Cell]] = [
        [number, case.data, case.name, _number(case.value), book[number].outcome(case.value)]
        for number in book
        for case in record.evidence.get(number, ())
    ]
    columns = ("claim", "tested on", "case", Column("measured", ".4g"), "outcome")
    note = "What is measured for a claim, and where it must lie, is said by its rule above. Intervals are of 95 %."
    return Table("evidence", "Every measurement behind the verdicts", columns, rows, note)


def _number(value: Measured) -> Cell:
    return int(value) if isinstance(value, bool) else None if isinstance(value, str) else value


def _made(record: Record) -> str:
    made = record.made
    quick = " A quick run, on less data: its figures are not those of the study." if made["quick"] else ""
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    sets = ", ".join(f"{name} (`{digest[:12]}`)" for name, digest in made["data"].items()) or "none"
    odd = ", ".join(f"{kind} {times} times" for kind, times in made["odd"].items()) or "none"
    return "\n".join(
        [
            f"    {made['command']}",
            "",
            f"- Seed {made['seed']}, study version {made['version']}, {made['parts']} parts; `run.json` holds the "
            f"seconds of each part.{quick}",
            f"- Data sets, with the digest of their files: {sets}.",
            f"- Warnings during fits: {odd}.",
            f"- {versions}.",
            f"- Document: {made['document']} Published figures from {made['source']}.",
        ]
    )
