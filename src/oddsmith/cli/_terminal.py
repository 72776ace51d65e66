"""The only way to a terminal: text is text, never markup, and no character of it acts."""

import os
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from oddsmith._check import visible

__all__ = ["Terminal"]

#: What Python puts in the place of the locale "C" for programs that it starts.
_COERCED = "C.UTF-8"


def _locale() -> str:
    """Return the name of the locale that the user chose for text; empty where none was."""
    names = (os.environ.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    return next((name for name in names if name and name != _COERCED), "")


class Terminal(Console):
    """A console on which text that comes from a file can do nothing but be read."""

    def __init__(self, *, stderr: bool = False, quiet: bool = False) -> None:
        super().__init__(stderr=stderr, quiet=quiet, highlight=False, markup=False, emoji=False)

    @property
    def encoding(self) -> str:
        """What characters the terminal knows: ASCII in the locale "C", where Python writes UTF-8 all the same."""
        is_plain = _locale() in ("C", "POSIX") and "PYTHONIOENCODING" not in os.environ
        return "ascii" if is_plain else super().encoding

    def render_str(self, text: str, **options: Any) -> Text:
        """Return text as it will be seen, before anything is made of its length."""
        return super().render_str(visible(text, keep="\n"), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Return what is printed at last: what acts comes from the library that draws, not from text."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text, keep="\n"))
