"""Adult: census records with their 14 attributes, categories coded as 0 and 1."""

import numpy as np

from oddsmith import checks
from oddsmith_studies.data._contents import content, load
from oddsmith_studies.data.registry import Folder, Found
from oddsmith_studies.data.shapes import LabelledRows

#: The attributes in the order of the file; those that end in a star are numbers.
_ATTRIBUTES = (
    "age*",
    "workclass",
    "fnlwgt*",
    "education",
    "education-num*",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain*",
    "capital-loss*",
    "hours-per-week*",
    "native-country",
)
POSITIVE = ">50K"
_EXPECTED = {
    "training rows": 32_561,
    "test rows": 16_281,
    f"training rows of class {POSITIVE}": 7_841,
    f"test rows of class {POSITIVE}": 3_846,
    "features": 108,
}


def load_adult(folder: Folder = None) -> LabelledRows:
    """Load the census records, six attributes as numbers, eight as one column a value.

    A missing value ("?") is a value like any other.

    Parameters
    ----------
    folder : path, default=None
        A data folder to look in first.

    Returns
    -------
    LabelledRows
        32,561 training and 16,281 test rows, 108 features, classes "<=50K" and ">50K".

    Examples
    --------
    >>> from oddsmith_studies.data import load_adult
    >>> load_adult().features[:3]  # doctest: +SKIP
    ('age', 'workclass=?', 'workclass=Federal-gov')
    """
    return load("adult", folder, read_adult, _EXPECTED)


def read_adult(found: Found) -> LabelledRows:
    """Read both files, without comparing counts."""
    train, test = (parse_records(content(found, name).decode("latin-1")) for name in ("adult.data", "adult.test"))
    table = np.array(train + test)
    columns, names = [], []
    for attribute, values in zip(_ATTRIBUTES, table[:, :-1].T, strict=True):
        if attribute.endswith("*"):
            columns.append(values.astype(np.float32)[:, None])
            names.append(attribute.removesuffix("*"))
        else:
            kinds = np.unique(values)
            columns.append((values[:, None] == kinds).astype(np.float32))
            names.extend(f"{attribute}={kind}" for kind in kinds)
    return LabelledRows(
        name=found.source.title,
        X=np.hstack(columns),
        y=table[:, -1],
        features=tuple(names),
        train=np.arange(len(table)) < len(train),
    )


def parse_records(text: str) -> list[list[str]]:
    r"""Return 14 attributes and the class, a list a record.

    The test file starts with a line that is no record, and ends its classes in a full stop.

    Examples
    --------
    >>> from oddsmith_studies.data.adult import parse_records
    >>> parse_records("|1x3 Cross validator\n25" + ", x" * 13 + ", <=50K.\n")[0][-1]
    '<=50K'
    """
    records = []
    for line in text.split("\n"):
        if not line.strip() or line.startswith("|"):
            continue
        values = [value.strip() for value in line.split(",")]
        if len(values) != len(_ATTRIBUTES) + 1:
            checks.fail(f"a record of Adult must have {len(_ATTRIBUTES) + 1} values", repr(line), "get adult again")
        values[-1] = values[-1].removesuffix(".")
        records.append(values)
    return records
