"""What a machine can write is written before Sphinx reads the pages, into docs/_made."""

from pathlib import Path

import command_pages
import figures
import reference_pages
import rooms
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Write all made pages and figures when a build begins."""
    app.connect("builder-inited", _write)
    app.connect("source-read", _lay_out_the_studies)
    return {"parallel_read_safe": True}


def _write(app: Sphinx) -> None:
    made = Path(app.srcdir) / "_made"
    pages = {f"{name}.rst": text for name, text in reference_pages.pages()}
    pages |= {f"{module}.names.txt": reference_pages.index_of(module) for module in reference_pages.MODULES}
    pages["command-line.md"] = command_pages.page()
    for name, text in pages.items():
        _write_if_changed(made / "reference" / name, text)
    for path in (made / "reference").iterdir():
        if path.name not in pages:
            path.unlink()  # of a name that is gone
    figures.write(made / "figures")
    _write_if_changed(
        made / "files.md", f"# Every file\n\n```{{table}}\n:class: names\n\n{rooms.files().strip()}\n```\n"
    )


def _write_if_changed(path: Path, text: str) -> None:
    """Leave a page alone that is as it should be, which spares reading it again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _lay_out_the_studies(app: Sphinx, docname: str, content: list[str]) -> None:
    """Give the studies what plain Markdown, which can be read outside the site as well, does not say.

    They stand below their index, and have the whole width: their tables have many columns.
    """
    del app
    if docname == "studies/index":
        content[0] += "\n\n```{toctree}\n:hidden:\n:glob:\n\nrules\n*/index\n```\n"
    if docname.startswith("studies/"):
        content[0] = f"---\nhtml_theme.sidebar_secondary.remove: true\n---\n\n{content[0]}"
