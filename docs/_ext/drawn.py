"""The directive `{drawn} name`: a picture of `figures`, the light or the dark one, with its caption."""

import figures
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Drawn(SphinxDirective):
    """Show a picture by its name; the content is its caption, the option what it shows in words."""

    required_arguments = 1
    option_spec = {"alt": directives.unchanged_required}  # noqa: RUF012, as docutils has it
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return a figure of two images, of which one is shown."""
        name = self.arguments[0]
        if name not in figures.FIGURES or "alt" not in self.options:
            message = f"no picture {name!r}, or no alt text"
            raise self.error(message)
        # The theme hides captions beside an image of the other theme, so that images need a box of their own.
        box = nodes.container()
        for theme in ("light", "dark"):
            uri = f"/_made/figures/{name}-{theme}.svg"
            box += nodes.image(uri=uri, alt=self.options["alt"], classes=[f"only-{theme}"])
        caption = nodes.caption()
        caption += self.parse_inline(" ".join(self.content), lineno=self.content_offset)[0]
        return [nodes.figure("", box, caption, classes=["drawn"])]


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the directive."""
    app.add_directive("drawn", Drawn)
    return {"parallel_read_safe": True}
