"""Methods by name: every exported calibrator, and those that were registered from outside."""

import pytest
from sklearn.linear_model import LogisticRegression

import oddsmith
from oddsmith.calibrators.registry import METHODS, find_method, method_name, register_calibrator
from oddsmith.errors import InvalidInputError


def test_every_exported_calibrator_has_a_name():
    exported = {getattr(oddsmith, name) for name in oddsmith.calibrators.__all__ if name.endswith("Calibrator")} - {
        oddsmith.Calibrator
    }
    assert set(METHODS.values()) == exported
    assert all(method_name(cls) == name for name, cls in METHODS.items())
    assert {"auto", "bbq", "asymmetric-laplace", "min-max", "venn-abers"} <= METHODS.keys()


@pytest.mark.parametrize("name", ["asymmetric-laplace", "asymmetric_laplace", "Asymmetric-Laplace"])
def test_names_are_taken_in_any_spelling(name):
    assert isinstance(find_method(name), oddsmith.AsymmetricLaplaceCalibrator)


def test_scikit_learns_sigmoid_is_platts():
    assert isinstance(find_method("sigmoid"), oddsmith.PlattCalibrator)


@pytest.mark.parametrize(("name", "hint"), [("isotnic", "did you mean 'isotonic'"), ("?", "choose one of them")])
def test_unknown_names_get_a_hint(name, hint):
    with pytest.raises(InvalidInputError) as caught:
        find_method(name)
    assert str(caught.value).startswith("method must be one of asymmetric-gaussian, asymmetric-laplace, auto, ")
    assert str(caught.value).endswith(f"; got method={name!r}. Hint: {hint}.")


def test_a_class_from_outside_is_known_once_it_is_registered(monkeypatch):
    monkeypatch.setattr(METHODS, "registered", dict(METHODS))

    def define():
        @register_calibrator
        class ToyCalibrator(oddsmith.PlattCalibrator):
            pass

        return ToyCalibrator

    define()
    again = define()  # as when a cell of a notebook is run twice
    assert type(find_method("toy")) is again
    with pytest.raises(InvalidInputError, match="with a name of its own; got PlattCalibrator"):
        register_calibrator(type("PlattCalibrator", (oddsmith.PlattCalibrator,), {}))
    with pytest.raises(InvalidInputError, match="a name of its own; got LogisticRegression"):
        register_calibrator(LogisticRegression)


def test_the_table_of_methods_cannot_be_edited():
    with pytest.raises(TypeError):
        METHODS["toy"] = oddsmith.PlattCalibrator
