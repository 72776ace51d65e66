"""Covertype: what grows on 581,012 patches of forest."""

import numpy as np

from oddsmith_studies.data._contents import content, load
from oddsmith_studies.data._integers import parse_integers
from oddsmith_studies.data.registry import Folder, Found
from oddsmith_studies.data.shapes import LabelledRows

_FEATURES = (
    "elevation",
    "aspect",
    "slope",
    "horizontal distance to hydrology",
    "vertical distance to hydrology",
    "horizontal distance to roadways",
    "hillshade 9am",
    "hillshade noon",
    "hillshade 3pm",
    "horizontal distance to fire points",
    *(f"wilderness area {number}" for number in range(1, 5)),
    *(f"soil type {number}" for number in range(1, 41)),
)
_CLASSES = {1: 211_840, 2: 283_301, 3: 35_754, 4: 2_747, 5: 9_493, 6: 17_367, 7: 20_510}
_EXPECTED = {
    "training rows": 581_012,
    **{f"training rows of class {kind}": number for kind, number in _CLASSES.items()},
}


def load_covertype(folder: Folder = None) -> LabelledRows:
    """Load forest patches: ten numbers, four wilderness areas, forty soil types.

    Parameters
    ----------
    folder : path, default=None
        A data folder to look in first.

    Returns
    -------
    LabelledRows
        581,012 rows of 54 int16 features in the published order, classes 1 to 7; no split is published.

    Examples
    --------
    >>> from oddsmith_studies.data import load_covertype
    >>> load_covertype().X.shape  # doctest: +SKIP
    (581012, 54)
    """
    return load("covtype", folder, read_covertype, _EXPECTED)


def read_covertype(found: Found) -> LabelledRows:
    """Read the rows, without comparing counts."""
    table = parse_integers(content(found, "covtype.data"), len(_FEATURES) + 1, "covtype.data")
    return LabelledRows(
        name=found.source.title,
        X=table[:, :-1],
        y=table[:, -1].copy(),
        features=_FEATURES,
        train=np.ones(len(table), dtype=bool),
    )
