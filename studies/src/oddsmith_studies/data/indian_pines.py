"""Indian Pines: an airborne spectrometer's view of fields in Indiana."""

import numpy as np
from scipy.io import loadmat

from oddsmith import checks
from oddsmith_studies.data._contents import load
from oddsmith_studies.data.registry import Folder, Found
from oddsmith_studies.data.shapes import LabelledRows

#: What grows in a pixel, with the number of pixels; the class is the place in this list, from 1.
GROUND = {
    "Alfalfa": 46,
    "Corn-notill": 1_428,
    "Corn-mintill": 830,
    "Corn": 237,
    "Grass-pasture": 483,
    "Grass-trees": 730,
    "Grass-pasture-mowed": 28,
    "Hay-windrowed": 478,
    "Oats": 20,
    "Soybean-notill": 972,
    "Soybean-mintill": 2_455,
    "Soybean-clean": 593,
    "Wheat": 205,
    "Woods": 1_265,
    "Buildings-Grass-Trees-Drives": 386,
    "Stone-Steel-Towers": 93,
}
_EXPECTED = {
    "training rows": 10_249,
    "features": 200,
    **{f"training rows of class {kind}": number for kind, number in GROUND.items()},
}


def load_indian_pines(folder: Folder = None) -> LabelledRows:
    """Load the labelled pixels of the scene of June 1992, without its bands of water vapour.

    Parameters
    ----------
    folder : path, default=None
        A data folder to look in first.

    Returns
    -------
    LabelledRows
        10,249 pixels, line by line, in 200 bands; 16 classes by name; no split is published.

    Examples
    --------
    >>> from oddsmith_studies.data import load_indian_pines
    >>> (load_indian_pines().y == "Soybean-mintill").sum()  # doctest: +SKIP
    np.int64(2455)
    """
    return load("indian_pines", folder, read_indian_pines, _EXPECTED)


def read_indian_pines(found: Found) -> LabelledRows:
    """Read the cube and the ground truth, without comparing counts."""
    cube, truth = _array(found, "Indian_pines_corrected"), _array(found, "Indian_pines_gt")
    if cube.shape[:2] != truth.shape or truth.max() > len(GROUND):
        checks.fail(
            "cube and ground truth of Indian Pines must have the same pixels, in 16 classes",
            f"{cube.shape} and {truth.shape}, classes up to {truth.max()}",
            "get indian_pines again",
        )
    labelled = truth > 0
    return LabelledRows(
        name=found.source.title,
        X=cube[labelled],
        y=np.array(tuple(GROUND))[truth[labelled] - 1],
        features=tuple(f"band {number}" for number in range(1, cube.shape[2] + 1)),
        train=np.ones(int(labelled.sum()), dtype=bool),
    )


def _array(found: Found, name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.uint16]]:
    variables = loadmat(str(found.folder / f"{name}.mat"))
    if name.lower() not in variables:
        checks.fail(f"{name}.mat must contain {name.lower()}", ", ".join(variables), "get indian_pines again")
    return np.asarray(variables[name.lower()], dtype=np.uint16)
