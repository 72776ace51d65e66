"""What holds for every picture: no global state, both themes, legible, inside its figure, the same bytes each time."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from gallery import displays
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.text import Text

from oddsmith import plots
from oddsmith.errors import InvalidInputError
from oddsmith.plots.theme import THEMES

DISPLAYS = displays()
every_picture = pytest.mark.parametrize("name", DISPLAYS)


def drawn(name, **options):
    display, usual = DISPLAYS[name]
    return display.plot(**usual, **options)


def test_the_gallery_is_complete():
    shown = {type(display).__name__ for display, _ in DISPLAYS.values()}
    assert shown == {name for name in plots.__all__ if name.endswith("Display")}


@every_picture
def test_settings_and_pyplot_are_left_alone_and_drawings_are_the_same_each_time(name):
    import matplotlib.pyplot as plt

    before, interactive = dict(mpl.rcParams), mpl.is_interactive()
    display, options = DISPLAYS[name]
    assert display.to_svg(**options) == display.to_svg(**options)
    ax = Figure().add_subplot()
    assert drawn(name, ax=ax).ax_ is ax
    assert dict(mpl.rcParams) == before
    assert mpl.is_interactive() == interactive
    assert plt.get_fignums() == []


@every_picture
@pytest.mark.parametrize("theme", THEMES)
def test_everything_is_legible_and_inside_the_figure(name, theme):
    display, look = drawn(name, theme=theme), THEMES[theme]
    figure = display.figure_
    FigureCanvasAgg(figure).draw()
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    assert min(text.get_size() for text in texts) >= 7
    assert {to_rgba(text.get_color()) for text in texts} == {to_rgba(look.text)}
    for ax in [display.ax_, *display.ax_.child_axes]:
        assert ax.get_facecolor() == figure.get_facecolor() == to_rgba(look.background)
        assert {spine.get_edgecolor() for spine in ax.spines.values()} == {to_rgba(look.muted)}
    width, height = figure.get_size_inches()
    assert width == pytest.approx(3.4)
    box = figure.get_tightbbox()
    assert min(box.x0, box.y0, width - box.x1, height - box.y1) >= -0.01


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_files_are_the_same_each_time(kind, tmp_path):
    display, _ = DISPLAYS["CorpDisplay"]
    for copy in "ab":
        display.save(tmp_path / f"{copy}.{kind}", dpi=60)
    assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
    if kind == "svg":
        assert (tmp_path / "a.svg").read_text() == display.to_svg()


def test_a_file_of_unknown_kind_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="the end of path must be one of 'svg'"):
        DISPLAYS["CorpDisplay"][0].save(tmp_path / "a.doc")
    with pytest.raises(InvalidInputError, match="theme must be one of 'light', 'dark'"):
        DISPLAYS["CorpDisplay"][0].plot(theme="sepia")


def test_saving_keeps_what_was_drawn(tmp_path):
    display, _ = DISPLAYS["CorpDisplay"]
    ax = display.plot().ax_
    display.save(tmp_path / "a.svg", theme="dark")
    assert display.ax_ is ax


def test_notebooks_show_a_figure_once():
    display = plots.CorpDisplay.from_predictions([0, 1, 1], [0.1, 0.5, 0.9], n_resamples=20)
    assert display._repr_svg_() == display.to_svg()
    assert display.plot(theme="dark")._repr_svg_() == display.to_svg(theme="dark")
    assert display.plot(Figure().add_subplot())._repr_svg_() is None


def test_an_axes_of_pyplot_is_used_and_shown_by_pyplot():
    import matplotlib.pyplot as plt

    with mpl.rc_context({"backend": "agg"}):
        _, ax = plt.subplots()
        display = DISPLAYS["CorpDisplay"][0].plot(ax)
        assert display.figure_ is plt.gcf()
        assert plt.get_fignums() == [1]
        plt.close("all")


def test_a_removed_axes_is_refused():
    ax = Figure().add_subplot()
    ax.remove()
    with pytest.raises(InvalidInputError, match="ax must belong to a figure"):
        DISPLAYS["CorpDisplay"][0].plot(ax)


def test_matplotlib_is_imported_only_to_draw():
    code = (
        "import sys; from oddsmith.metrics import forecast_from_arrays; from oddsmith.plots import CorpDisplay;"
        "CorpDisplay.from_table(forecast_from_arrays([0, 1, 1], [.1, .5, .9])); print('matplotlib' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "False"


@pytest.mark.parametrize("name", ["ReliabilityDisplay", "lines", "CorpDisplay", "SmoothReliabilityDisplay"])
def test_curves_on_one_axes_get_their_own_colors(name):
    ax = Figure().add_subplot()
    for _ in range(3):
        drawn(name, ax=ax)
    inks = [np.ravel(artist.get_color()) for artist in ax.get_children() if str(artist.get_gid()).startswith("series")]
    palette = THEMES["light"].palette
    assert [to_rgba(ink.tolist() if len(ink) > 1 else ink[0]) for ink in inks] == [to_rgba(c) for c in palette[:3]]
    assert len(ax.child_axes) == 1
    assert not ax.child_axes[0].texts
    assert sum(line.get_gid() == "diagonal" for line in ax.lines) == 1


@every_picture
def test_a_repr_is_short_and_names_the_picture(name):
    display, _ = DISPLAYS[name]
    assert repr(display).startswith(f"{type(display).__name__}(")
    assert len(repr(display)) < 300
