"""Functions of scikit-learn that have no public counterpart, in the one place that imports them.

They have these names in scikit-learn 1.7, the oldest version that is supported, to 1.9; where a later one moves them,
only this file changes.
"""

from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils.metaestimators import _safe_split as safe_split
from sklearn.utils.validation import _check_method_params as check_method_params
from sklearn.utils.validation import _num_samples as num_samples

__all__ = ["check_method_params", "num_samples", "safe_indexing", "safe_split"]
