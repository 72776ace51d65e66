"""Figures of the gallery: the `display` of each block of an example, or the `figure` of several."""

from typing import Any

from sphinx_gallery.scrapers import figure_rst

#: Examples in the order in which readers look for them; others follow.
_FIRST = (
    "plot_reliability.py",
    "plot_scores.py",
    "plot_comparisons.py",
    "plot_several_classes.py",
    "plot_every_map.py",
)


def place(name: str) -> tuple[int, str]:
    """Return what examples are sorted by."""
    return _FIRST.index(name) if name in _FIRST else len(_FIRST), name


def scraper(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save what a block of an example drew, and return the text that shows it."""
    del block
    names = block_vars["example_globals"]
    figure = names.pop("figure", None) or getattr(names.pop("display", None), "figure_", None)
    if figure is None:
        return ""
    path = next(block_vars["image_path_iterator"])
    figure.savefig(path, dpi=160, facecolor=figure.get_facecolor())
    return figure_rst([path], gallery_conf["src_dir"])
