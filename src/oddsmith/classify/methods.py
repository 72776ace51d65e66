"""Methods by name: a calibrator of two classes, or a joint scaling of more."""

from typing import Any

from oddsmith import _check
from oddsmith.calibrators import METHODS, Calibrator, find_method, method_name
from oddsmith.classify.auto_scaling import AutoScaling
from oddsmith.classify.scaling import DirichletScaling, JointScaling, MatrixScaling, TemperatureScaling, VectorScaling

#: Every joint scaling by the name of its method.
SCALINGS: dict[str, type[JointScaling]] = {
    method_name(cls): cls for cls in (AutoScaling, DirichletScaling, MatrixScaling, TemperatureScaling, VectorScaling)
}


def resolve_method(method: Any, *, joint: bool = False) -> Any:
    """Resolve a name, or check an instance, once, at the door.

    A name that a calibrator and a scaling share ("auto", "temperature") means the scaling where several classes are
    calibrated jointly, and elsewhere the calibrator.
    """
    if isinstance(method, str):
        known: dict[str, type[Any]] = {**METHODS, **SCALINGS} if joint else {**SCALINGS, **METHODS}
        return find_method(method, known)()
    if not isinstance(method, (Calibrator, JointScaling)):
        _check.fail("method must be a name, a Calibrator or a joint scaling", f"method={method!r}", 'use "platt"')
    if getattr(method, "pos_label", None) is not None:
        got = f"pos_label={method.pos_label!r}"
        _check.fail("the second of the sorted classes is positive", got, "leave pos_label out of the calibrator")
    return method
