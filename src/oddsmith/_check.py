"""The only place that validates input: every message to the user is made here.

All errors read ``<what must be true>; got <what came>. Hint: <one action>.``, in the same words at every entry point.
"""

import math
import unicodedata
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oddsmith._types import Bools, Floats, Weights
from oddsmith.errors import InvalidInputError

#: Kinds of characters that a terminal obeys or nobody sees: controls, formats (among them those that turn the direction
#: of writing), halves of characters, private and unassigned ones, ends of lines and paragraphs.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

#: What is no single value.
_SEVERAL = (list, tuple, dict, set, np.ndarray)

#: The square of a smaller weight vanishes, and a larger sum of weights wraps around where weights are counts.
LEAST_WEIGHT, LARGEST_SUM = 1e-100, 2**63 - 1

#: Softmax outputs in float32 with many classes miss 1 by a few 1e-6.
_ROW_SUM_SLACK = 1e-5


class Labels(NamedTuple):
    """Which rows are positive, and what the two classes are called (negative first)."""

    positive: Bools
    classes: NDArray[Any]


def fail(must: str, got: str, hint: str) -> NoReturn:
    """Raise an `InvalidInputError` in the common form.

    Parameters
    ----------
    must : str
        What must be true.
    got : str
        What came.
    hint : str
        What to do.

    See Also
    --------
    one_of : Refuses unknown choices.
    """
    raise InvalidInputError(visible(f"{must}; got {got}. Hint: {hint}.", keep="\n"))


def visible(text: str, *, keep: str = "", hide: str = "") -> str:
    r"""Return text with control and invisible characters replaced by their code points.

    Parameters
    ----------
    text : str
        From anywhere.
    keep : str, optional
        Characters that may stay though they are not seen, such as the end of a line.
    hide : str, optional
        Characters that are written by their number though they are seen.

    Returns
    -------
    str

    See Also
    --------
    fail : Raises errors with such text.

    Examples
    --------
    >>> visible("red: \x1b[31m, reversed: \u202e, Größe: 10\u202fm²")
    'red: [U+001B][31m, reversed: [U+202E], Größe: 10\u202fm²'
    """
    if text.isascii() and text.isprintable() and not hide:
        return text
    return "".join(
        c if (c in keep or unicodedata.category(c) not in _UNSEEN) and c not in hide else f"[U+{ord(c):04X}]"
        for c in text
    )


def as_scores(scores: ArrayLike) -> Floats:
    """Return float64 scores of shape (n,), n ≥ 1, to apply a map to: ±∞ have its limits, NaN is refused."""
    array = _score_column(scores)
    if np.isnan(array.min()):
        n_nan, first = int(np.isnan(array).sum()), int(np.argmax(np.isnan(array)))
        fail("scores must not be NaN", f"{n_nan} NaN values, first at row {first}", "drop or repair those rows")
    return array


def as_spanned_scores(scores: ArrayLike) -> tuple[Floats, tuple[float, float]]:
    """Return finite scores of a fit, of shape (n,), n ≥ 1, with the smallest and the largest."""
    array = _score_column(scores)
    return array, refuse_nonfinite(array, "scores")


def _score_column(scores: ArrayLike) -> Floats:
    """Return float64 scores of shape (n,), n ≥ 1, from anything array-like of shape (n,) or (n, 1)."""
    array = _numeric(scores, "scores")
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    elif array.ndim == 2 and array.shape[1] == 2:
        fail("scores must be one column", f"shape {array.shape}", "pass scores[:, 1], the positive class")
    elif array.ndim != 1:
        fail("scores must have shape (n,) or (n, 1)", f"shape {array.shape}", "Reshape your data to one score per row")
    if array.size == 0:
        # In scikit-learn's words.
        got = f"0 sample(s) (shape={array.shape}) while a minimum of 1 is required"
        fail("scores must contain at least one value", got, "check how rows were selected")
    return array


def refuse_nonfinite(array: Floats, name: str) -> tuple[float, float]:
    """Refuse NaN and infinity, saying how many there are and where the first one is; return the extremes."""
    # The extremes tell whether anything is wrong without a temporary array: NaN propagates through both.
    low, high = float(array.min()), float(array.max())
    if math.isfinite(low) and math.isfinite(high):
        return low, high
    bad = ~np.isfinite(array)
    first = int(np.argmax(bad))
    n_nan = int(np.isnan(array).sum())
    fail(
        f"{name} must be finite",
        f"{n_nan} NaN and {int(bad.sum()) - n_nan} infinity values, first at row {first}: "
        f"{name}[{first}]={array[first]}",
        "drop or repair those rows",
    )


def as_labels(
    y: ArrayLike,
    n: int,
    pos_label: Any = None,
    *,
    sort_labels: bool = False,
    against_rest: bool = False,
    option: str = "pos_label",
) -> Labels:
    """Read labels {0, 1}, {−1, +1}, {1, 2}, bool, or any two values with ``pos_label``.

    Parameters
    ----------
    y, n
        One label per row, and the number of rows.
    pos_label : object, optional
        The positive one.
    sort_labels : bool, default False
        Whether two other values need no ``pos_label``: the larger one is positive.
    against_rest : bool, default False
        Whether there may be more than two values, all but ``pos_label`` being negative.
    option : str, default "pos_label"
        What the user calls ``pos_label``; anything else is an option of the command line too.
    """
    array = label_column(y, n)
    if pos_label is None and (known := _known_coding(array)) is not None:
        return known
    return _named_coding(array, pos_label, sort_labels, against_rest, option)


def label_column(y: ArrayLike | None, n: int) -> NDArray[Any]:
    """Return one label per row, of whatever kind."""
    if y is None:
        # In scikit-learn's words.
        must = "y must contain the labels: this estimator requires y to be passed, but the target y is None"
        fail(must, "None", "pass y, one label per row")
    array = _as_numbers(_as_array(y, "y"))
    if array.ndim == 2 and array.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        message = "A column-vector y was passed when a 1d array was expected."
        warnings.warn(message, DataConversionWarning, stacklevel=5)
        array = array[:, 0]
    if array.ndim != 1:
        fail("y must have shape (n,)", f"shape {array.shape}", "pass one label per row")
    if len(array) != n:
        fail("y must be as long as the scores", f"{len(array)} labels for {n} scores", "check how rows were selected")
    return array


def as_weights(sample_weight: ArrayLike | None, n: int) -> Weights | None:
    """Return weights ≥ 0, int64 when integer-typed (counts) and float64 otherwise, or None when absent.

    Parameters
    ----------
    sample_weight : array-like of shape (n,), optional
        Integer-typed weights are counts, float weights importance weights.
    n : int
        How many there must be.

    Returns
    -------
    ndarray or None

    See Also
    --------
    as_array : Scores.
    """
    if sample_weight is None:
        return None
    raw = np.asarray(sample_weight)
    if raw.ndim == 0 and raw.dtype.kind in "iuf":
        raw = np.full(n, raw[()])
    if raw.ndim == 2 and raw.shape[1] == 1:
        raw = raw[:, 0]
    if raw.shape != (n,):
        fail("sample_weight must have shape (n,)", f"shape {raw.shape} for {n} scores", "pass one weight per row")
    weights: Weights
    if raw.dtype.kind in "iub":
        weights = raw.astype(np.int64, copy=False)
    else:
        weights = _numeric(raw, "sample_weight")
        refuse_nonfinite(weights, "sample_weight")
    if raw.dtype.kind != "u" and weights.min() < 0:
        first = int(np.argmax(weights < 0))
        fail("sample_weight must be ≥ 0", f"sample_weight[{first}]={weights[first]}", "drop the row or use weight 0")
    refuse_large_sum(weight_sum(raw if raw.dtype.kind in "iub" else weights), "sample_weight")
    if weights.dtype.kind == "f" and weights.min() < LEAST_WEIGHT:
        tiny = (weights < LEAST_WEIGHT) & (weights > 0)
        first = int(np.argmax(tiny))
        if tiny[first]:
            refuse_tiny_weight(float(weights[first]), f"sample_weight[{first}]")
    if not weights.any():
        fail("sample_weight must be positive somewhere", "only zeros", "a weight of 0 means that the row is absent")
    return weights


def weight_sum(weights: NDArray[Any]) -> float:
    """Return the sum of weights, of integers exactly and however large it is."""
    with np.errstate(over="ignore"):
        rounded = float(weights.sum(dtype=np.float64))
    if weights.dtype.kind == "f":
        return rounded
    return int(weights.sum()) if abs(rounded) < 2.0**62 else sum(weights.tolist())


def refuse_large_sum(total: float, name: str) -> None:
    """Refuse weights that add up to more than 64 bits can count."""
    if not total <= LARGEST_SUM:
        fail(
            f"{name} must have a sum of weights below 2**63", f"{float(total):.6g}", "divide all weights by one number"
        )


def refuse_tiny_weight(weight: float, name: str) -> NoReturn:
    """Refuse a weight whose square vanishes."""
    fail(
        f"weights must be 0 or at least {LEAST_WEIGHT:g}",
        f"{name}={weight:g}",
        "multiply all weights by one number, or use weight 0",
    )


def as_distribution(prob: ArrayLike) -> Floats:
    """Return class probabilities of shape (n, k), k ≥ 2, from P(+) of shape (n,) or rows that sum to 1."""
    p = as_array(prob, "prob", (1, 2), unit=True)
    if p.ndim == 1:
        return np.column_stack([1.0 - p, p])
    if p.shape[1] == 1:
        fail("prob must have one column per class", f"shape {p.shape}", "pass prob[:, 0], the positive class")
    off = np.abs(p.sum(axis=1) - 1.0)
    worst = int(np.argmax(off))
    if off[worst] > _ROW_SUM_SLACK:
        fail(
            "rows of prob must sum to 1",
            f"row {worst} with sum {p[worst].sum():.6g}",
            "normalize first, for example with normalize_one_vs_rest",
        )
    return p


def are_distributions(rows: Floats) -> bool:
    """Tell whether rows of finite numbers are probabilities of several classes: none below 0, all sums 1."""
    return bool(rows.min() >= 0 and np.abs(rows.sum(axis=1) - 1.0).max() <= _ROW_SUM_SLACK)


def as_array(
    values: ArrayLike,
    name: str,
    axes: Sequence[int],
    *,
    unit: bool = False,
    infinite: bool = False,
    masked: bool = False,
) -> Floats:
    """Return a non-empty array of float64 with an allowed number of axes.

    Values are finite; with ``unit`` inside [0, 1], with ``infinite`` anything but NaN, with ``masked`` finite or −inf.

    Parameters
    ----------
    values : array-like
        What a user passed.
    name : str
        What errors call it.
    axes : int
        How many axes it must have.
    unit : bool
        Whether values must be in [0, 1].
    infinite : bool
        Whether infinite values are allowed.
    masked : bool
        Whether masked values are allowed.

    Returns
    -------
    ndarray

    See Also
    --------
    as_weights : Weights.
    """
    array = _numeric(values, name)
    if array.ndim not in axes:
        # scikit-learn's checks look for "Reshape your data" in these words.
        fail(
            f"{name} must have {' or '.join(str(count) for count in axes)} axes",
            f"shape {array.shape}",
            "Reshape your data: one row per item, one column per class or classifier",
        )
    if array.size == 0:
        lacking = "feature(s)" if len(array) else "sample(s)"
        fail(
            f"{name} must not be empty",
            f"0 {lacking} (shape={array.shape}) while a minimum of 1 is required",
            "check how rows and columns were selected",
        )
    # The extremes tell whether anything is wrong without a temporary array: NaN propagates through both.
    smallest, largest = array.min(), array.max()
    if masked and smallest == -np.inf:
        as_array(np.where(np.isneginf(array), 0.0, array), name, axes)
        return array
    low, high = (0.0, 1.0) if unit else (-np.inf, np.inf)
    if infinite and not np.isnan(smallest):
        return array
    if not (np.isfinite(smallest) and np.isfinite(largest) and low <= smallest and largest <= high):
        bad = np.isnan(array) if infinite else ~(np.isfinite(array) & (array >= low) & (array <= high))
        first = np.unravel_index(int(np.argmax(bad)), array.shape)
        where = f"{name}[{', '.join(str(index) for index in first)}]={array[first]}"
        fail(
            f"{name} must {'not be NaN' if infinite else 'be finite'}{' and in [0, 1]' if unit else ''}",
            f"{int(bad.sum())} bad values, {int(np.isnan(array).sum())} of them NaN, the first {where}",
            "drop or repair those rows",
        )
    return array


def refuse_masked_rows(rows: Floats, name: str) -> None:
    """Refuse rows of logits in which all classes are masked."""
    none = np.isneginf(rows).all(axis=1) if rows.shape[1] > 1 else np.zeros(len(rows), dtype=bool)
    if none.any():
        fail(
            f"each row of {name} must have a class that is possible, with a logit above −inf",
            f"{int(none.sum())} rows of −inf only, the first at row {int(np.argmax(none))}",
            "leave out such rows, or check how their masks were made",
        )


def refuse_other_columns(rows: Floats, name: str, fitted: Any, hint: str) -> None:
    """Refuse rows of another width than an estimator was fitted to, in scikit-learn's words."""
    found, expected = rows.shape[1], fitted.n_features_in_
    if found != expected:
        got = f"X has {found} features, but {type(fitted).__name__} is expecting {expected} features as input"
        fail(f"{name} must have the columns of fit", got, hint)


def one_of(value: object, name: str, options: Sequence[object]) -> None:
    """Refuse a parameter that is not among its options.

    Parameters
    ----------
    value : object
        What a user passed.
    name : str
        What errors call it.
    options : collection
        What may be chosen.

    See Also
    --------
    fail : Any other condition.
    """
    if not any(value is option or value == option for option in options):
        listed = ", ".join(repr(option) for option in options)
        fail(f"{name} must be one of {listed}", f"{name}={value!r}", "choose one of them")


def number(value: object, name: str, *, low: float, strict: bool = False) -> float:
    """Return a finite real parameter that is at least (``strict``: greater than) ``low``.

    Parameters
    ----------
    value : object
        What a user passed.
    name : str
        What errors call it.
    low : float, optional
        The smallest value.
    strict : bool, default False
        Whether it must be larger than that.

    Returns
    -------
    float

    See Also
    --------
    whole_number : Without decimals.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        fail(f"{name} must be a number", f"{name}={value!r}", "pass a float or an int")
    result = float(value)
    if not np.isfinite(result) or result < low or (strict and result == low):
        if low == -np.inf:
            fail(f"{name} must be finite", f"{name}={value!r}", "pass a finite number")
        hint = f"pass a number above {low:g}" if strict else f"pass {low:g} or more"
        fail(f"{name} must be finite and {'>' if strict else '≥'} {low:g}", f"{name}={value!r}", hint)
    return result


def level(value: object, name: str = "level", usual: float = 0.95) -> float:
    """Return the level of an interval, a share between 0 and 1."""
    share = number(value, name, low=0, strict=True)
    if share >= 1:
        fail(f"{name} must be below 1", f"{name}={value!r}", f"pass a share such as {usual}")
    return share


def whole_number(value: object, name: str, *, low: int) -> int:
    """Return an integer parameter that is at least ``low``.

    Parameters
    ----------
    value : object
        What a user passed.
    name : str
        What errors call it.
    low : int
        The smallest value.

    Returns
    -------
    int

    See Also
    --------
    number : With decimals.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < low:
        fail(f"{name} must be an integer ≥ {low}", f"{name}={value!r}", f"pass {low} or more")
    return int(value)


def _numeric(values: Any, name: str) -> Floats:
    """Return a float64 array, or say why there is none."""
    if hasattr(values, "toarray"):
        fail(f"{name} must be dense", f"a sparse {type(values).__name__}", "pass a dense array: scores are one column")
    array = _as_array(values, name)
    if array.dtype.kind == "c":
        fail(f"{name} must be real", "Complex data not supported", "pass the real part")
    if array.dtype.kind in "fiub":
        return array.astype(np.float64, copy=False)
    if array.dtype.kind == "O" and not any(isinstance(value, (str, bytes)) for value in array.flat):
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError) as error:
            fail(f"{name} must be numeric", str(error), "convert to float first")
    fail(f"{name} must be numeric", f"dtype {array.dtype}", "convert to float first")


def _as_array(values: Any, name: str) -> NDArray[Any]:
    """Return an array of what is array-like: rows of one length, nothing masked."""
    if isinstance(values, np.ma.MaskedArray) and (masked := int(np.sum(np.ma.getmaskarray(values)))):
        fail(f"{name} must not contain missing values", f"{masked} masked values", "drop those rows")
    try:
        array = np.asarray(values)
    except ValueError:
        array = None
    if array is None or (array.dtype.kind == "O" and any(isinstance(value, _SEVERAL) for value in array.flat)):
        fail(f"{name} must contain one value per row", "rows of several values", "check how rows were made")
    return array


def _as_numbers(array: NDArray[Any]) -> NDArray[Any]:
    """Return objects that are all numbers, or all truth, as an array of such; anything else as it is."""
    if array.dtype.kind != "O" or not all(isinstance(value, (int, float, np.number, np.bool_)) for value in array.flat):
        return array
    numbers = np.array(array.tolist())
    return numbers if numbers.dtype.kind in "biuf" else array


def _known_coding(array: NDArray[Any]) -> Labels | None:
    """Recognize bool, {0, 1} and {−1, +1} by value, one class or both, and {1, 2} where both occur."""
    if array.dtype.kind == "b":
        return Labels(array, np.array([False, True]))
    if array.dtype.kind not in "iuf" or array.size == 0:
        return None
    if array.dtype == np.int64 and array.flags.c_contiguous and array.view(np.uint64).max() <= 1:
        return Labels(array == 1, np.array([0, 1]))  # negative numbers are large when read without sign
    positive = array == 1
    for negative in (0, -1):
        if np.count_nonzero(positive) + np.count_nonzero(array == negative) == array.size:
            return Labels(positive, np.array([negative, 1], dtype=array.dtype))
    second = array == 2
    if (
        np.count_nonzero(positive) + np.count_nonzero(second) == array.size
        and 0 < np.count_nonzero(second) < array.size
    ):
        return Labels(second, np.array([1, 2], dtype=array.dtype))
    return None


def convention_of(classes: ArrayLike) -> str:
    """Return which label is positive where only a convention says so, that of {1, 2}; else an empty text."""
    numbers = np.asarray(classes)
    return "label 2 is positive" if numbers.dtype.kind in "iuf" and numbers.tolist() == [1, 2] else ""


def _named_coding(array: NDArray[Any], pos_label: Any, sort_labels: bool, against_rest: bool, option: str) -> Labels:
    """Read any two label values, or one against the rest, given which one is positive."""
    distinct = distinct_labels(array)
    several = len(distinct) > 2
    shown = _census(array, distinct)
    if several and array.dtype.kind == "f" and np.any(distinct != np.floor(distinct)):
        # In scikit-learn's words.
        got = "Unknown label type: continuous values"
        fail("y must contain two classes", got, "pass labels, not scores or outcomes")
    if several and not against_rest:
        hint = (
            "Only binary classification is supported. Calibrate scores of all classes by AutoScaling, or one class "
            "against the rest"
        )
        fail("y must contain two classes", f"{len(distinct)} classes: {shown}", hint)
    if pos_label is None and sort_labels and len(distinct) == 2:
        pos_label = distinct[-1]
    if pos_label is None:
        one = _plain(distinct[0 if several else -1])
        hint = f"pass {option}={one!r}" + ("" if option == "pos_label" else f" (--{option} {one})")
        if several:
            must, got = (
                f"y must contain two labels, or {option} must name one of them",
                f"{len(distinct)} labels: {shown}",
            )
            fail(must, got, f"{hint} to calibrate it against the rest")
        if len(distinct) == 2 and option == "pos_label":
            hint += f" if higher scores mean {one!r}, else {option}={_plain(distinct[0])!r}"
        must = f"y must contain labels {{0, 1}}, {{-1, +1}}, {{1, 2}} or bool, or {option} must name the positive one"
        fail(must, f"classes {shown}", hint)
    matches = [label for label in distinct if label == pos_label]
    others = [label for label in distinct if label != pos_label]
    if not matches and len(others) > 1:
        got = f"{option}={pos_label!r} with {len(distinct)} classes: {shown}"
        fail(f"{option} must be one of the labels", got, "name one of them")
    chosen = matches[0] if matches else pos_label
    classes = [others[0] if others else _other_label(pos_label), chosen]
    if several:
        classes = [f"not {_plain(chosen)}", str(_plain(chosen))]
    return Labels(np.asarray(array == chosen, dtype=bool), np.array(classes))


def _census(array: NDArray[Any], distinct: NDArray[Any]) -> str:
    """Return the first labels, with the number of rows of each where rows are many."""
    counts = [int(np.count_nonzero(array == label)) for label in distinct[:4]]
    counted = array.size > len(distinct)  # else these are the distinct labels of rows that are elsewhere
    words = [
        f"{_plain(label)!r}" + (f" ({count:,} row{'s' * (count != 1)})" if counted else "")
        for label, count in zip(distinct, counts, strict=False)
    ]
    return ", ".join(words) + (", …" if len(distinct) > 4 else "")


def distinct_labels(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        fail("y must not contain NaN or infinity", f"{int((~np.isfinite(array)).sum())} such labels", "drop those rows")
    if array.dtype.kind == "O" and (missing := sum(_is_missing(value) for value in array)):
        fail("y must not contain missing values", f"{missing} missing or NaN labels", "drop those rows")
    try:
        return np.unique(array)
    except TypeError:
        fail(
            "y must contain labels of one kind",
            "mixed kinds such as text and numbers (unknown label type)",
            "convert y",
        )


def class_labels(y: ArrayLike, n: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return one label per row, and the sorted distinct ones; numbers must be whole."""
    labels = label_column(y, n)
    present = distinct_labels(labels)
    if labels.dtype.kind == "f" and np.any(present != np.floor(present)):
        # In scikit-learn's words.
        fail("y must contain classes", "Unknown label type: continuous values", "pass labels, not outcomes")
    return labels, present


def _is_missing(value: Any) -> bool:
    """Tell None, NaN, NaT, and the missing value of pandas, of which nobody knows whether it equals itself."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


def _other_label(pos_label: Any) -> Any:
    """Name the class that never occurred: needed when every row is positive."""
    if isinstance(pos_label, str):
        return f"not {pos_label}"
    return 1 if pos_label == 0 else 0


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
