"""Types of arrays and of labels, and nothing else."""

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Weights = NDArray[np.int64] | NDArray[np.float64]

#: What tells classes apart, as JSON knows it.
Label = str | int | float | bool
