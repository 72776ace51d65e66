"""How the documentation is built: `make docs` writes it to build/docs, without any network.

Pages are Markdown. What a machine can write is made while building, into docs/_made: figures, the reference, the
help of the commands and the gallery.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

from oddsmith import __version__  # noqa: E402

project = "Oddsmith"
author = copyright = "The Oddsmith developers"
version = release = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "docstrings",
    "drawn",
    "made_pages",
    "mathml",
    "running_text",
    "what_browsers_load",
]
exclude_patterns = ["studies/*/tables", "gallery"]

# Formulas are written $…$ and become MathML, which browsers draw themselves: no script and no font to download.
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
html_math_renderer = "mathml"

# Copied code has no prompts and no output.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"
copybutton_selector = "div:not(.highlight-text) > div.highlight > pre"

default_role = "py:obj"
autodoc_typehints = "none"  # numpydoc writes them with each parameter
toc_object_entries_show_parents = "hide"  # fit(), not AutoCalibrator.fit(): the list beside a page is narrow


numpydoc_show_class_members = False  # each member is shown in full instead

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "_made/gallery",
    "filename_pattern": r"/",
    "within_subsection_order": "shown_displays.place",
    "image_scrapers": ("shown_displays.scraper",),
    "remove_config_comments": True,
    "min_reported_time": 1e9,  # times differ from run to run
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "download_all_examples": False,
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = f"Oddsmith {__version__}"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["oddsmith.css"]
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "Oddsmith"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {page: [] for page in ("glossary", "index", "numbers", "scale")}  # pages without others below them
