"""Pictures of the summary: the maps of winners, and the regrets of every calibrator."""

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from oddsmith.checks import Bools, Floats
from oddsmith.plots.theme import SMALL_SIZE, Theme
from oddsmith_studies.studies._figures import Drawing, Panels, StudyFigure
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies.summary.measured import Field, Loss, collect
from oddsmith_studies.studies.summary.methods import KINDS, kind_of, short_name
from oddsmith_studies.studies.summary.tables import by_regret

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: A lead of so many points has the full color; how strong that is, so that letters stay legible; how pale no lead is.
_FULL_LEAD, _STRONG, _PALE = 1.0, 0.45, 0.08

#: Regrets from here on are equally dark.
_DARKEST = 20.0

_KEY = "Kind of the winner, and its lead"


def all_figures(results: Results) -> list[StudyFigure]:
    """Return both maps, and regrets by size and share of positives, and by classifier."""
    field = collect(results)
    methods = by_regret(field)
    regret = field.regret()

    def means(groups: Sequence[Bools]) -> Floats:
        return np.array([[regret[where, field.column(name)].mean() for where in groups] for name in methods])

    def heat(names: Sequence[str], groups: Sequence[Bools]) -> Drawing:
        return Drawing(partial(_draw_regrets, methods=methods, names=names, regrets=means(groups)))

    pages = {
        "calibration cases": heat(field.sizes, [field.size == name for name in field.sizes]),
        "share of positives": heat(field.bands, [field.band == name for name in field.bands]),
    }
    classifiers = heat(field.classifiers, [field.classifier == name for name in field.classifiers])
    return [
        StudyFigure("map", _caption(field, "log_loss"), _map(field, "log_loss")),
        StudyFigure("map-brier", _caption(field, "brier"), _map(field, "brier")),
        StudyFigure(
            "regret-by-size",
            "Mean regret in log-loss of every calibrator by calibration cases and by share of positives, in percent of "
            "the loss of a forecast that knows only that share; darker is worse, equally dark from 20 on, the least in "
            "bold.",
            Panels(pages, columns=2, size=(3.9, 5.0)),
        ),
        StudyFigure(
            "regret-by-classifier",
            "The same by classifier.",
            Panels({"classifiers": classifiers}, columns=1, size=(7.6, 5.6)),
        ),
    ]


def _caption(field: Field, loss: Loss) -> str:
    """Say what a map shows, and what the short names in it mean."""
    squares = [
        cells
        for of in (np.ones(len(field.size), bool), *(field.classifier == name for name in field.classifiers))
        for size, band in product(field.sizes, field.bands)
        if (cells := of & (field.size == size) & (field.band == band)).any()
    ]
    names = sorted({winner(field, cells, loss)[0] for cells in squares}, key=str.lower)
    short = ", ".join(f"{short_name(name)} = {name}" for name in names if short_name(name) != name)
    return (
        f"Which calibrator wins where in {'log-loss' if loss == 'log_loss' else 'Brier score'}. Rows are shares of "
        "positives, columns calibration cases. The winner has the least mean regret over the problems of a square; the "
        "number is its lead, in points of regret, over the best method of another kind, and the color is stronger "
        "where it is larger. A dash: a calibration set that could be expected to hold fewer than two positives, or "
        f"that no problem has. Short names: {short or 'none'}."
    )


def _map(field: Field, loss: Loss) -> Panels:
    everything = np.ones(len(field.size), bool)
    panels = {"All classifiers": Drawing(partial(_draw_winners, field=field, where=everything, loss=loss))}
    panels |= {
        name[0].upper() + name[1:]: Drawing(
            partial(_draw_winners, field=field, where=field.classifier == name, loss=loss)
        )
        for name in field.classifiers
    }
    return Panels(panels | {_KEY: Drawing(_draw_key)}, columns=2, size=(3.7, 2.0))


def winner(field: Field, where: Bools, loss: Loss) -> tuple[str, float]:
    """Return the method of the least mean regret in some cells, and its lead over the best of another kind."""
    regret = field.regret(loss)[where].mean(axis=0)
    best = field.methods[int(np.argmin(regret))]
    others = [value for name, value in zip(field.methods, regret, strict=True) if kind_of(name) != kind_of(best)]
    return best, float(min(others) - regret.min())


def _draw_winners(ax: "Axes", look: Theme, field: Field, where: Bools, loss: Loss) -> None:
    for row, band in enumerate(field.bands):
        for column, size in enumerate(field.sizes):
            cells = where & (field.band == band) & (field.size == size)
            if not cells.any():
                ax.text(column, row, "–", ha="center", va="center", size=SMALL_SIZE, color=look.muted)
                continue
            name, lead = winner(field, cells, loss)
            _fill(ax, look, column, row, KINDS.index(kind_of(name)), lead)
            text = f"{short_name(name)}\n{lead:.1f}"
            ax.text(column, row, text, ha="center", va="center", size=SMALL_SIZE, color=look.text, linespacing=1.0)
    ax.set_xticks(range(len(field.sizes)), field.sizes)
    ax.set_yticks(range(len(field.bands)), [name.removeprefix("about ") for name in field.bands])
    _bare(ax, len(field.sizes), len(field.bands))


def _draw_key(ax: "Axes", look: Theme) -> None:
    for row, kind in enumerate(KINDS):
        for column, lead in enumerate((0.0, _FULL_LEAD / 2, _FULL_LEAD)):
            _fill(ax, look, column, row, row, lead)
        ax.text(2.8, row, kind, ha="left", va="center", size=SMALL_SIZE, color=look.text)
    ax.set_xticks(range(3), ["0", f"{_FULL_LEAD / 2:g}", f"≥ {_FULL_LEAD:g}"])
    ax.set_yticks([])
    _bare(ax, 6, len(KINDS))


def _fill(ax: "Axes", look: Theme, column: float, row: float, kind: int, lead: float) -> None:
    from matplotlib.patches import Rectangle

    strength = _PALE + (_STRONG - _PALE) * min(lead / _FULL_LEAD, 1.0)
    ax.add_patch(
        Rectangle((column - 0.48, row - 0.46), 0.96, 0.92, facecolor=look.ink(kind).color, alpha=strength, linewidth=0)
    )


def _bare(ax: "Axes", columns: int, rows: int) -> None:
    """Leave squares and their names alone, the first row on top."""
    ax.set_xlim(-0.5, columns - 0.5)
    ax.set_ylim(rows - 0.5, -0.5)
    ax.grid(visible=False)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _draw_regrets(ax: "Axes", look: Theme, methods: Sequence[str], names: Sequence[str], regrets: Floats) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    ramp = LinearSegmentedColormap.from_list("regret", [look.background, look.ink(0).color])
    shade = np.log1p(np.minimum(regrets, _DARKEST)) / np.log1p(_DARKEST)
    ax.imshow(0.75 * shade, cmap=ramp, vmin=0, vmax=1, aspect="auto")
    for row in range(len(methods)):
        for column in range(len(names)):
            value = regrets[row, column]
            text = f"{value:.1f}" if value < 10 else f"{value:.0f}"
            least = value == regrets[:, column].min()
            ax.text(
                column,
                row,
                text,
                ha="center",
                va="center",
                size=SMALL_SIZE,
                color=look.text,
                weight="bold" if least else "normal",
            )
    ax.set_xticks(
        range(len(names)), [name.removeprefix("about ") if "%" in name else name.replace(" ", "\n") for name in names]
    )
    ax.set_yticks(range(len(methods)), methods)
    _bare(ax, len(names), len(methods))
