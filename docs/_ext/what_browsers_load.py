"""What browsers and search engines load of each page: a description, and nothing that the page does not use.

The theme loads a script of all icons of Font Awesome, and the index of the search on every page; the icons of this site
are in its style sheet, and the search has a page of its own. Pictures are loaded when they come into view, those of
the other color scheme never.
"""

import html
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

#: A tag that loads one of these scripts.
ICONS = re.compile(r"\s*<(?:script|link)\b[^>]*\bscripts/fontawesome\.js[^>]*>(?:</script>)?")
SEARCH = re.compile(r"\s*<script\b[^>]*\b(?:searchtools|language_data|searchindex)\.js[^>]*></script>")
#: A rule of a style sheet that names the character of an icon.
CHARACTER = re.compile(r'(?:\.fa-[\w-]+(?::before)?,?)+\{(?:--fa|content):"[^"]*"[^}]*\}')

#: A picture that is not lazy yet.
PICTURE = re.compile(r"<img (?!loading)")

#: Search engines cut longer ones.
LONGEST = 160


def setup(app: Sphinx) -> dict[str, bool]:
    """Describe pages while they are written, and clean them when all are."""
    app.connect("html-page-context", _describe)
    app.connect("build-finished", _lighten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def description(text: str) -> str:
    """Return the beginning of a text, cut between words.

    Examples
    --------
    >>> description("A short text.")
    'A short text.'
    >>> len(description("word " * 100)) <= LONGEST
    True
    """
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rpartition(" ")[0] + "…"


def _describe(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    del app, pagename, templatename
    if doctree is not None and (first := next(doctree.findall(nodes.paragraph), None)) is not None:
        content = html.escape(description(first.astext()))
        context["metatags"] = context.get("metatags", "") + f'\n<meta name="description" content="{content}">'


def _lighten(app: Sphinx, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        for path in (Path(app.outdir) / "_static" / "styles").glob("*.css"):
            path.write_text(CHARACTER.sub("", path.read_text(encoding="utf-8")), encoding="utf-8")
        for path in Path(app.outdir).rglob("*.html"):
            text = path.read_text(encoding="utf-8")
            lighter = PICTURE.sub('<img loading="lazy" ', ICONS.sub("", text))
            if path.name != "search.html":
                lighter = SEARCH.sub("", lighter)
            if lighter != text:
                path.write_text(lighter, encoding="utf-8")
