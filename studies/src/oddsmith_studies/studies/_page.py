"""The page of a study: its story with tables and pictures in place, the verdicts, and how it was made."""

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

from oddsmith import checks
from oddsmith_studies.studies._claims import Claim, claims_table
from oddsmith_studies.studies._figures import StudyFigure
from oddsmith_studies.studies._tables import Table

_MARK = re.compile(r"^\{\{ (table|figure) (\S+) \}\}$", re.MULTILINE)

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
</style>
</head>
<body>
"""


def write_page(
    title: str,
    story: str,
    tables: Sequence[Table],
    figures: Sequence[StudyFigure],
    claims: Sequence[Claim],
    made: Mapping[str, Any],
) -> str:
    """Return the page in Markdown; pictures lie in the folder ``figures`` beside it."""
    blocks = {("table", table.name): table.to_markdown() for table in tables}
    blocks |= {("figure", figure.name): _picture(figure) for figure in figures}
    placed = set()

    def fill(mark: re.Match[str]) -> str:
        key = (mark[1], mark[2])
        if key not in blocks:
            names = ", ".join(name for kind, name in blocks if kind == mark[1])
            checks.fail(f"a story must name a {mark[1]} that the study has", mark[2], f"one of {names}")
        placed.add(key)
        return blocks[key]

    body = _MARK.sub(fill, story.strip())
    rest = [block for key, block in blocks.items() if key not in placed]
    verdicts = ["## Verdicts", claims_table(claims).to_markdown()] if claims else []
    more = ["## More tables and pictures", *rest] if rest else []
    return "\n\n".join([f"# {title}", body, *verdicts, *more, "## How this page was made", _made(made)]) + "\n"


def to_html(title: str, markdown: str) -> str:
    """Return the page in HTML."""
    from markdown_it import MarkdownIt

    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    return f"{_HEAD.format(title=html.escape(title))}{body}</body>\n</html>\n"


def _picture(figure: StudyFigure) -> str:
    return f"![{figure.name}](figures/{figure.name}.svg)\n\n*{figure.caption}*"


def _made(made: Mapping[str, Any]) -> str:
    quick = " A quick run, on less data: its figures are not those of the study." if made["quick"] else ""
    versions = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    sets = ", ".join(f"{name} (`{digest[:12]}`)" for name, digest in made["data"].items()) or "none"
    odd = ", ".join(f"{kind} {times} times" for kind, times in made["odd"].items()) or "nothing"
    return "\n".join(
        [
            f"    {made['command']}",
            "",
            f"- seed {made['seed']}, study version {made['version']}, {made['parts']} parts.{quick}",
            f"- data sets, with the digest of their files: {sets}",
            f"- what fits found odd: {odd}",
            f"- {versions}",
            f"- document: {made['document']} Figures from {made['source']}.",
        ]
    )
