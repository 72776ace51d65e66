"""Colors are told apart by all eyes, and from the background."""

from itertools import combinations

import numpy as np
import pytest

from oddsmith.plots.theme import THEMES

#: What color-blind eyes see of linear red, green and blue (Machado, Oliveira and Fernandes 2009).
SIGHT = {
    "usual": np.eye(3),
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(color):
    value = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    low, high = sorted(float(XYZ[1] @ linear(color)) for color in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(light):
    t = XYZ @ np.clip(light, 0, 1) / XYZ.sum(axis=1)
    f = np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_lines_and_text_stand_out_from_the_background(theme):
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert min(contrast(color, theme.background) for color in (*theme.palette, theme.muted)) >= 3
    assert contrast(theme.text, theme.background) >= 7


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_all_eyes_tell_the_palette_apart(theme, sight):
    seen = [lab(np.asarray(SIGHT[sight]) @ linear(color)) for color in theme.palette]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 20


@pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
def test_series_differ_without_color(theme):
    inks = [theme.ink(series) for series in range(36)]
    assert len({(ink.color, str(ink.dashes)) for ink in inks}) == 36
    assert len({ink.marker for ink in inks[:6]}) == len({str(ink.dashes) for ink in inks[:6]}) == 6
