"""Letter Recognition: printed capitals described by 16 small integers."""

from string import ascii_uppercase

import numpy as np

from oddsmith_studies.data._contents import content, load
from oddsmith_studies.data._integers import parse_integers
from oddsmith_studies.data.registry import Folder, Found
from oddsmith_studies.data.shapes import LabelledRows

_FEATURES = (
    "x-box",
    "y-box",
    "width",
    "high",
    "onpix",
    "x-bar",
    "y-bar",
    "x2bar",
    "y2bar",
    "xybar",
    "x2ybr",
    "xy2br",
    "x-ege",
    "xegvy",
    "y-ege",
    "yegvx",
)
# fmt: off
_LETTERS = (789, 766, 736, 805, 768, 775, 773, 734, 755, 747, 739, 761, 792,
            783, 753, 803, 783, 758, 748, 796, 813, 764, 752, 787, 786, 734)
# fmt: on
_EXPECTED = {
    "training rows": 20_000,
    **{f"training rows of class {letter}": number for letter, number in zip(ascii_uppercase, _LETTERS, strict=True)},
}


def load_letter(folder: Folder = None) -> LabelledRows:
    """Load printed capitals in the published order.

    Parameters
    ----------
    folder : path, default=None
        A data folder to look in first.

    Returns
    -------
    LabelledRows
        20,000 rows of 16 features from 0 to 15, classes "A" to "Z"; no split is published.

    Examples
    --------
    >>> from oddsmith_studies.data import load_letter
    >>> (load_letter().y == "O").sum()  # doctest: +SKIP
    np.int64(753)
    """
    return load("letter", folder, read_letter, _EXPECTED)


def read_letter(found: Found) -> LabelledRows:
    """Read the rows, without comparing counts."""
    lines = content(found, "letter-recognition.data").split()
    table = parse_integers(b"\n".join(line[2:] for line in lines), len(_FEATURES), "letter-recognition.data")
    return LabelledRows(
        name=found.source.title,
        X=table,
        y=np.array([line[:1].decode("ascii") for line in lines]),
        features=_FEATURES,
        train=np.ones(len(lines), dtype=bool),
    )
