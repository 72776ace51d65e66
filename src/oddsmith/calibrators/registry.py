"""Methods by name and number of classes, and the one way to fit any of them: data in, model out.

Another package adds a method by an entry point of the group ``oddsmith.calibrators``, whose object is the class; it is
loaded when methods are first looked up.
"""

import difflib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import clone

from oddsmith import _check
from oddsmith.calibrators._base import Calibrator, method_name
from oddsmith.calibrators._masked_logits import refuse_masked_truth
from oddsmith.calibrators.scaling import JointScaling
from oddsmith.data import ScoreRows, ScoreTable
from oddsmith.errors import OddsmithWarning
from oddsmith.model import Model

__all__ = [
    "METHODS",
    "ONE_VS_REST",
    "SCALINGS",
    "JointScaling",
    "Method",
    "find_method",
    "fit_method",
    "register_calibrator",
    "resolve_method",
]

AnyClass = TypeVar("AnyClass", bound=type[Any])

Method = Calibrator | JointScaling

#: What others call a method.
_ALIASES = {"sigmoid": "platt"}

#: Before the name of a calibrator: one of it for each class, against the rest.
ONE_VS_REST = "one-vs-rest"

_GROUP = "oddsmith.calibrators"


class _Registered(Mapping[str, AnyClass]):
    """Classes by the names of their methods, those of installed packages included; they are loaded on first use."""

    _entries_loaded: ClassVar[bool] = False

    def __init__(self, base: type[Any]) -> None:
        self.base = base
        self.registered: dict[str, AnyClass] = {}

    def _all(self) -> dict[str, AnyClass]:
        if not _Registered._entries_loaded:
            _Registered._entries_loaded = True  # first: a package may look methods up while it is loaded
            _load_entries()
        return self.registered

    def __getitem__(self, name: str) -> AnyClass:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return ", ".join(self)


_CALIBRATORS = _Registered[type[Calibrator]](Calibrator)
_SCALINGS = _Registered[type[JointScaling]](JointScaling)

#: Every calibrator of two classes by the name of its method, those that were registered later and those of other
#: packages included.
METHODS: Mapping[str, type[Calibrator]] = _CALIBRATORS

#: Every joint scaling by the name of its method.
SCALINGS: Mapping[str, type[JointScaling]] = _SCALINGS


def register_calibrator(cls: AnyClass) -> AnyClass:
    """Make a calibrator or a joint scaling known by its name; usable as a decorator.

    A class may be registered again, as when a notebook cell is run twice, but may not take the name of another one.

    Returns
    -------
    type

    See Also
    --------
    find_method : Finds it by its name.
    """
    name, among = method_name(cls), [each for each in (_CALIBRATORS, _SCALINGS) if issubclass(cls, each.base)]
    known = among[0].registered.get(name, cls) if among else None
    if known is None or (known.__module__, known.__name__) != (cls.__module__, cls.__name__):
        got = cls.__name__ if known is None else f"{cls.__name__}, a name of {known.__module__}"
        must = "a registered class must be a Calibrator or a joint scaling with a name of its own"
        _check.fail(must, got, "rename the class")
    among[0].registered[name] = cls
    return cls


def _load_entries() -> None:
    """Register the methods of installed packages; one that fails is left out with a warning."""
    for entry in sorted(entry_points(group=_GROUP)):
        try:
            register_calibrator(entry.load())
        except Exception as error:  # whatever another package does wrong
            package = entry.dist.name if entry.dist else entry.module
            failure = f"{type(error).__name__}: {error}"
            message = f"The calibrator {entry.name!r} of {package} cannot be loaded and is left out ({failure})."
            warnings.warn(_check.visible(message), OddsmithWarning, stacklevel=2)


def find_method(name: str, n_classes: int = 2, option: str = "method") -> Method:
    """Return a method with its defaults, in any case and with "-" or "_"; ``option`` is what errors call its name.

    A name that a calibrator and a scaling share ("auto", "temperature") means the calibrator for two classes and the
    scaling for several; "one-vs-rest:auto" is the calibrator for each class against the rest.

    Parameters
    ----------
    name : str
        Such as "platt", "auto" or "one-vs-rest:auto".
    n_classes : int, default 2
        How many classes there are.
    option : str, default "method"
        What errors call the name.

    Returns
    -------
    Method

    See Also
    --------
    resolve_method : Takes instances, too.
    register_calibrator : Adds a name.

    Examples
    --------
    >>> find_method("venn_abers"), find_method("sigmoid")
    (VennAbersCalibrator(), PlattCalibrator())
    >>> find_method("auto", 3), find_method("one-vs-rest:auto", 3)
    (AutoScaling(), AutoCalibrator())
    """
    kind, colon, inner = name.partition(":")
    if n_classes > 2 and _plain(kind) == ONE_VS_REST:
        if not colon:
            _check.fail("one-vs-rest needs the method of each class", name, f"write {option} one-vs-rest:platt")
        name, known = inner, dict[str, type[Any]](METHODS)
    else:
        known = {**METHODS, **SCALINGS} if n_classes > 2 else {**SCALINGS, **METHODS}
    wanted = _ALIASES.get(_plain(name), _plain(name))
    if wanted not in known:
        names = [*known, *([f"{ONE_VS_REST}:METHOD"] if n_classes > 2 and not colon else [])]
        close = difflib.get_close_matches(wanted, [*known, *_ALIASES], n=1)
        hint = f"did you mean {close[0]!r}" if close else "choose one of them"
        _check.fail(f"{option} must be one of {', '.join(sorted(names))}", f"{option}={name!r}", hint)
    made: Method = known[wanted]()
    return made


def _plain(name: str) -> str:
    return name.replace("_", "-").lower()


def resolve_method(method: Any, n_classes: int = 2) -> Method:
    """Return the method of a name, or check an instance.

    Parameters
    ----------
    method : str, Calibrator or JointScaling
        A name, or an unfitted instance.
    n_classes : int, default 2
        How many classes there are.

    Returns
    -------
    Method

    See Also
    --------
    find_method : Takes names only.
    """
    if isinstance(method, str):
        return find_method(method, n_classes)
    if not isinstance(method, Method):
        _check.fail("method must be a name, a Calibrator or a joint scaling", f"method={method!r}", 'use "platt"')
    if getattr(method, "pos_label", None) is not None:
        got = f"pos_label={method.pos_label!r}"
        _check.fail("the second of the sorted classes is positive", got, "leave pos_label out of the calibrator")
    return method


def fit_method(
    data: ScoreTable | ScoreRows, method: Method | str, *, tables: Sequence[ScoreTable] | None = None
) -> Model:
    """Fit a method to data of any number of classes.

    Parameters
    ----------
    data : ScoreTable or ScoreRows
        Two classes, or several.
    method : Calibrator, joint scaling or str
        Unfitted. For several classes, a calibrator is fitted to the log-odds of each class against the rest, or to the
        column of each class where rows are probabilities and it was declared to read those. For two classes, a joint
        scaling reads two logits: 0 and the log-odds.
    tables : sequence of ScoreTable, optional
        Each class against the rest, of all rows, where ``data`` is a sample of them: calibrators are fitted to these.

    Returns
    -------
    Model

    See Also
    --------
    find_method : An unfitted method.
    oddsmith.report.compare_methods : Compares several methods.

    Examples
    --------
    >>> from oddsmith import TemperatureScaling
    >>> values = np.array([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [2.0, 0.0, 1.0]])
    >>> rows = ScoreRows(values, np.array([0, 1, 2]), ("a", "b", "c"), None, ("a", "b", "c"), "log_odds")
    >>> fit_method(rows, TemperatureScaling()).predict(values).tolist()
    ['a', 'b', 'a']
    >>> fit_method(ScoreTable.from_arrays([-2.0, 0.5, 0.1, 3.0], [0, 0, 1, 1]), "platt").method
    'PlattCalibrator'
    """
    unfitted: Method = clone(resolve_method(method, data.n_classes))
    if isinstance(data, ScoreTable):
        labels = None if None in data.labels else data.labels
        fitted = unfitted.fit_table(data)
        return Model.from_fitted(fitted, table=data if isinstance(fitted, Calibrator) else None, labels=labels)
    if isinstance(unfitted, JointScaling):
        unfitted.set_params(classes=np.arange(data.n_classes), input=data.input)
        fitted = unfitted.fit(data.values, data.truth, data.weight)
        return Model.from_fitted(fitted, labels=data.labels, column_names=data.column_names)
    reads_columns = data.meaning == "probability" and unfitted.input == "probability"
    if reads_columns:
        each = enumerate(data.values.T)
        calibrators = [clone(unfitted).fit(column, data.truth == k, data.weight) for k, column in each]
    else:
        parts = _each_against_rest(data) if tables is None else tables
        calibrators = [clone(unfitted).fit_table(part) for part in parts]
    return Model.from_one_vs_rest(
        calibrators, data.labels, input=data.input, against_rest=not reads_columns, column_names=data.column_names
    )


def _each_against_rest(rows: ScoreRows) -> list[Any]:
    """Return the log-odds of each class against the rest, which need a class that is possible in every row."""
    logits = rows.logits()
    _check.refuse_masked_rows(logits, "logits")
    refuse_masked_truth(logits, rows.truth)
    return [rows.against_rest(k, logits) for k in range(rows.n_classes)]
