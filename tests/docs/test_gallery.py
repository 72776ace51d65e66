"""The gallery shows every display."""

from pathlib import Path

import pytest

from oddsmith import plots

EXAMPLES = {
    path.name: path.read_text(encoding="utf-8") for path in (Path(__file__).parents[2] / "docs/gallery").glob("*.py")
}


@pytest.mark.parametrize("name", [name for name in plots.__all__ if name.endswith("Display")])
def test_every_display_has_an_example(name):
    assert any(f"{name}.from_" in text for text in EXAMPLES.values())


def test_every_method_is_drawn():
    text = EXAMPLES["plot_every_map.py"]
    assert "draw(first)" in text
    assert "draw(others)" in text
    assert "others = [name for name in METHODS if name not in first]" in text
