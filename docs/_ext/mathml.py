"""Formulas as MathML, which browsers draw themselves: nothing is fetched, and no script runs."""

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer `html_math_renderer = "mathml"`."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(_drawn(node.astext(), "inline"))
    raise nodes.SkipNode


def _block(self: HTML5Translator, node: nodes.math_block) -> None:
    parts = re.split(r"\\qquad", node.astext())  # beside each other, or one below the other on a phone
    self.body.append(f'<div class="formula">{"".join(_drawn(part, "block") for part in parts)}</div>')
    raise nodes.SkipNode


def _drawn(formula: str, display: str) -> str:
    """Return a formula as MathML; brackets of a given size become those that fit what they hold."""
    return convert(
        re.sub(r"\\[bB]ig+([lr])", lambda side: {"l": r"\left", "r": r"\right"}[side[1]], formula), display=display
    )
