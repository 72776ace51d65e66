"""What an engine needs to know to add the probabilities of several classes to a frame."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oddsmith._types import Floats
from oddsmith.formula.layers import Layer, as_layers, guarded_layers
from oddsmith.formula.nodes import Formula
from oddsmith.formula.vectors import largest
from oddsmith.maps.joint import JointMap


class JointLayers(NamedTuple):
    """A joint map as layers of columns, and which of them are the probabilities and the largest one."""

    layers: list[Layer]
    probs: list[str]
    top: str


class JointPlan(NamedTuple):
    """A joint map, the columns that it reads, and those that it adds.

    Parameters
    ----------
    map : JointMap
    columns : tuple of str
        What it reads.
    probs : list of str
        New columns, one per class.
    decision : str
        New column of the most probable label.
    labels : list
        Of one kind.
    """

    map: JointMap
    columns: tuple[str, ...]
    probs: list[str]
    decision: str
    labels: list[Any]

    def layers(
        self, given: list[str], spare: str, *, prepare: Callable[[Formula], Formula] | None = None, strict: bool = False
    ) -> JointLayers:
        """Return the map as layers.

        Parameters
        ----------
        given : list of str
            Columns of doubles that it reads.
        spare : str
            Beginning of names that no column has.
        prepare : callable, optional
            Makes formulas without pieces of others.
        strict : bool
            Whether every step is held within the range of doubles.
        """
        prob = self.map.probability_formula()
        layers, (probs, (top,)) = as_layers([prob, largest(prob)], given, spare)
        if prepare is not None:
            layers = [[replace(column, formula=prepare(column.formula)) for column in layer] for layer in layers]
        return JointLayers(guarded_layers(layers, given) if strict else layers, probs, top)

    def decide(self, prob: Floats) -> NDArray[Any]:
        """Return the most probable label of each row, of equal ones the first."""
        best: NDArray[Any] = np.asarray(self.labels)[prob.argmax(axis=1)]
        return best
