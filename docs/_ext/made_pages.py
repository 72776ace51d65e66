"""What a machine can write is written before Sphinx reads the pages, into docs/_made."""

from pathlib import Path

import command_pages
import figures
import reference_pages
import rooms
from sphinx.application import Sphinx

#: What the head of the site names, in this order.
SECTIONS = {
    "Start": "start/index",
    "Understand": "understand/index",
    "Choose": "choose/index",
    "Do": "recipes/index",
    "Gallery": "_made/gallery/index",
    "Studies": "studies/index",
    "Measures": "measures/index",
    "Reference": "reference/index",
    "Coming from": "coming-from/index",
    "Inside": "inside/index",
    "Numbers": "numbers",
    "Scale": "scale",
    "Stability": "stability",
    "Licenses": "licenses",
}


def setup(app: Sphinx) -> dict[str, bool]:
    """Write all made pages and figures when a build begins."""
    app.connect("builder-inited", _write)
    app.connect("source-read", _list_sections)
    return {"parallel_read_safe": True}


def _write(app: Sphinx) -> None:
    made = Path(app.srcdir) / "_made"
    pages = {f"{name}.rst": text for name, text in reference_pages.pages()}
    pages["command-line.md"] = command_pages.page()
    for name, text in pages.items():
        _write_if_changed(made / "reference" / name, text)
    for path in (made / "reference").iterdir():
        if path.name not in pages:
            path.unlink()  # of a name that is gone
    figures.write(made / "figures")
    _write_if_changed(made / "files.md", f"# Every file\n\n{rooms.files()}")


def _write_if_changed(path: Path, text: str) -> None:
    """Leave a page alone that is as it should be, which spares reading it again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _list_sections(app: Sphinx, docname: str, content: list[str]) -> None:
    """Give the first page its sections, and the plain Markdown index of the studies its pages."""
    root = Path(app.srcdir)
    there = {title: page for title, page in SECTIONS.items() if "_made" in page or (root / f"{page}.md").exists()}
    if docname == "index":
        listed = [f"{title} <{page}>" for title, page in there.items()]
        content[0] += "\n".join(["", "```{toctree}", ":hidden:", ":glob:", "", *listed, "```"])
    if docname == ("studies/index" if "Studies" in there else "index"):
        content[0] += "\n\n```{toctree}\n:hidden:\n:glob:\n\n/studies/*/index\n```\n"
