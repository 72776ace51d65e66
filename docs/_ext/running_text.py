"""Link names of the library wherever a page writes them as code, and say where lines may break."""

import re
from typing import Any

from docutils import nodes
from in_text import bound, breakable, targets
from sphinx.application import Sphinx
from sphinx.util.nodes import make_refnode

#: --json, but not a word too long for a phone
OPTION = re.compile(r'<span class="pre">(?=-[^<]{1,24}</span>)')
#: A formula with the mark that follows it
COMMA = re.compile(r'(<math\b[^>]*display="inline"(?:(?!</math>).)*</math>[.,;:)]+)', re.DOTALL)


def setup(app: Sphinx) -> dict[str, bool]:
    """Set the text of every page."""
    app.connect("doctree-resolved", _link)
    app.connect("doctree-resolved", _bind)
    app.connect("doctree-resolved", _trim)
    app.connect("doctree-resolved", _name_claims)
    app.connect("html-page-context", _let_break)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _link(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    if docname.startswith("_made/") or docname == "changelog":
        return  # where markup says what is a name, or names are of the past
    known = app.env.domains.python_domain.objects
    for code in list(doctree.findall(nodes.literal)):
        home = next((target for target in targets(code.astext()) if target in known), None)
        if home and not _around(code, nodes.reference, nodes.title) and not _is_of_others(code, docname):
            entry = known[home]
            link = make_refnode(app.builder, docname, entry.docname, entry.node_id, code.deepcopy(), home)
            code.replace_self(link)


def _is_of_others(code: nodes.literal, docname: str) -> bool:
    """Whether code is a name in another library: those stand in the first column, and some are called like ours."""
    cell = _around(code, nodes.entry)
    return docname.startswith("coming-from/") and cell is not None and cell.parent.index(cell) == 0


def _around(node: nodes.Node, *kinds: type[nodes.Element]) -> nodes.Element | None:
    while node is not None and not isinstance(node, kinds):
        node = node.parent
    return node


def _bind(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    del app, docname
    code = (nodes.literal, nodes.literal_block, nodes.doctest_block, nodes.math, nodes.math_block, nodes.raw)
    for text in list(doctree.findall(nodes.Text)):
        if bound(text) != text and not isinstance(text.parent, code):
            text.parent.replace(text, nodes.Text(bound(text)))


def _trim(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Take away blank lines at the end of included code, which separate it from the next part of its file."""
    del app, docname
    for block in doctree.findall(nodes.literal_block):
        if block.rawsource == block.astext():
            block.rawsource = block.rawsource.rstrip("\n")
            block[:] = [nodes.Text(block.rawsource)]


def _name_claims(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Tell the style sheet which tables hold claims with their verdicts."""
    del app, docname
    for table in doctree.findall(nodes.table):
        head = next(table.findall(nodes.thead), nodes.thead())
        if {"claim", "verdict"} <= {entry.astext() for entry in head.findall(nodes.entry)}:
            table["classes"].append("claims")


def _let_break(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    del app, pagename, templatename, doctree
    if "body" in context:
        word = re.compile(r'(?<=<span class="pre">)[^<]+')
        body = word.sub(lambda found: breakable(found[0]), context["body"])
        body = OPTION.sub('<span class="pre option">', body)
        body = COMMA.sub(r'<span class="together">\1</span>', body)
        context["body"] = body.replace('<span class="sig-paren">(</span>', '<span class="sig-paren">(</span><wbr>')
    for page in filter(None, (context.get("prev"), context.get("next"))):
        if "<" not in page["title"]:
            page["title"] = " ".join(breakable(word, short=10) for word in page["title"].split(" "))
