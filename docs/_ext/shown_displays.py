"""Figures of the gallery: what a block of an example calls `figure`."""

from typing import Any

from sphinx_gallery.scrapers import figure_rst


def scraper(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save what a block of an example drew, and return the text that shows it."""
    del block
    figure = block_vars["example_globals"].pop("figure", None)
    if figure is None:
        return ""
    path = next(block_vars["image_path_iterator"])
    figure.savefig(path, dpi=120)
    return figure_rst([path], gallery_conf["src_dir"])
