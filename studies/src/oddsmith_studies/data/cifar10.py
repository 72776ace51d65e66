"""Outputs of two neural networks on the test images of CIFAR-10."""

import io

import numpy as np

from oddsmith import checks
from oddsmith_studies.data._contents import content, load
from oddsmith_studies.data.registry import Folder, Found
from oddsmith_studies.data.shapes import LabelledRows

NETWORKS = ("wideresnet-16-4", "lenet-5")
_EXPECTED = {
    "training rows": 10_000,
    "features": 10,
    **{f"training rows of class {label}": 1_000 for label in range(10)},
}


def load_cifar10_outputs(network: str = "wideresnet-16-4", folder: Folder = None) -> LabelledRows:
    """Load what a network said of 10,000 images that it was not trained on.

    Parameters
    ----------
    network : {"wideresnet-16-4", "lenet-5"}, default="wideresnet-16-4"
    folder : path, default=None
        A data folder to look in first.

    Returns
    -------
    LabelledRows
        10,000 rows of ten probabilities (their logarithms are logits up to a constant), classes 0 to 9.

    Examples
    --------
    >>> from oddsmith_studies.data import load_cifar10_outputs
    >>> load_cifar10_outputs("lenet-5").X.shape  # doctest: +SKIP
    (10000, 10)
    """
    checks.one_of(network, "network", NETWORKS)
    return load("nn_cifar10", folder, lambda found: read_outputs(found, network), _EXPECTED)


def read_outputs(found: Found, network: str) -> LabelledRows:
    """Read the outputs of one network, without comparing counts."""
    raw = io.BytesIO(content(found, f"{network}-cifar-10.npz"))
    with np.load(raw) as arrays:
        outputs, truth = arrays["predictions"], arrays["ground_truth"]
    return LabelledRows(
        name=f"{found.source.title}: {network}",
        X=outputs,
        y=truth.ravel(),
        features=tuple(f"P(class {label})" for label in range(outputs.shape[1])),
        train=np.ones(len(outputs), dtype=bool),
    )
