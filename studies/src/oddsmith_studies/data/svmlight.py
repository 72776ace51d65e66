"""The data sets published in svmlight form: Adult as a9a, web pages, phishing sites."""

import io

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from oddsmith_studies.data._contents import content, load
from oddsmith_studies.data.registry import Folder, Found
from oddsmith_studies.data.shapes import LabelledRows


def load_a9a(folder: Folder = None) -> LabelledRows:
    """Load Adult in Platt's 123 binary features: the rows of `load_adult`, in the same order.

    Parameters
    ----------
    folder : path, default=None
        A data folder to look in first.

    Returns
    -------
    LabelledRows
        Sparse; 32,561 training and 16,281 test rows, classes −1 and 1.

    Examples
    --------
    >>> from oddsmith_studies.data import load_a9a
    >>> load_a9a().X.shape  # doctest: +SKIP
    (48842, 123)
    """
    expected = {
        "training rows": 32_561,
        "test rows": 16_281,
        "training rows of class 1": 7_841,
        "test rows of class 1": 3_846,
    }
    # The test file lacks the last feature.
    return load("a9a", folder, lambda found: read_svmlight(found, ("a9a", "a9a.t"), 123), expected)


def load_web(folder: Folder = None) -> LabelledRows:
    """Load web pages in 300 binary key words.

    Parameters
    ----------
    folder : path, default=None
        A data folder to look in first.

    Returns
    -------
    LabelledRows
        Sparse; 49,749 training and 14,951 test rows, classes −1 and 1, of which 3 % are 1. Each test row is a training
        row too: whoever wants to test must take them out of the training rows first.

    Examples
    --------
    >>> from oddsmith_studies.data import load_web
    >>> load_web().X.shape  # doctest: +SKIP
    (64700, 300)
    """
    expected = {
        "training rows": 49_749,
        "test rows": 14_951,
        "training rows of class 1": 1_479,
        "test rows of class 1": 454,
    }
    return load("web", folder, lambda found: read_svmlight(found, ("w8a", "w8a.t"), 300), expected)


def load_phishing(folder: Folder = None) -> LabelledRows:
    """Load phishing sites in 68 features, scaled to rows of length 1; no split is published.

    Parameters
    ----------
    folder : path, default=None
        A data folder to look in first.

    Returns
    -------
    LabelledRows
        Sparse; 11,055 rows, classes 0 and 1.

    Examples
    --------
    >>> from oddsmith_studies.data import load_phishing
    >>> load_phishing().X.shape  # doctest: +SKIP
    (11055, 68)
    """
    expected = {"training rows": 11_055, "training rows of class 1": 6_157}
    return load("phishing", folder, lambda found: read_svmlight(found, ("phishing",), 68), expected)


def read_svmlight(found: Found, names: tuple[str, ...], n_features: int) -> LabelledRows:
    """Read the training file and, where there is one, the test file, without comparing counts."""
    parts = []
    for name in names:
        raw = io.BytesIO(content(found, name))
        parts.append(load_svmlight_file(raw, n_features=n_features, zero_based=False))
    y = np.concatenate([labels for _, labels in parts]).astype(np.int64)
    return LabelledRows(
        name=found.source.title,
        X=sparse.csr_array(sparse.vstack([rows for rows, _ in parts], format="csr")),
        y=y,
        features=tuple(f"x{number}" for number in range(1, n_features + 1)),
        train=np.arange(len(y)) < len(parts[0][1]),
    )
