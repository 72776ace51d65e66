"""Model files of several classes: they load for ever with the same map, and what does not hold together is refused.

Run this file as a script to write the files of methods that have none yet; those that exist are never rewritten.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import oddsmith
from oddsmith.calibrators.registry import SCALINGS, find_method
from oddsmith.errors import InvalidInputError, ModelFileError
from oddsmith.maps import JointMap, OneVsRestMap, ScalingMap
from oddsmith.model import Model
from oddsmith.model.strict_json import render
from samples import ours_allowed

MODELS = Path(__file__).parents[1] / "golden" / "models"
FOLDER = MODELS / "joint"
FILES = sorted(FOLDER.glob("*.json"))
OLDER = MODELS / "several"
LABELS = ("cat", "dog", "hare")


def sample(n=150, k=3, seed=5):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    return np.round(rng.normal(size=(n, k)) * 2 + 3 * np.eye(k)[y], 3), y


def probabilities(logits):
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def one_vs_rest(method, columns, y, **options):
    calibrators = [find_method(method).fit(columns[:, k], y == k) for k in range(columns.shape[1])]
    return Model.from_one_vs_rest(calibrators, LABELS, **options)


def examples():
    """One model a scaling, one of probabilities, one of one column, and some of each class against the rest."""
    logits, y = sample()
    names = np.array(LABELS)[y]
    columns = [f"logit_{label}" for label in LABELS]
    for cls in SCALINGS.values():
        yield cls.__name__, Model.from_fitted(cls().fit(logits, names), column_names=columns)
    weighted = oddsmith.AutoScaling().fit(probabilities(logits), y, np.where(y == 0, 0.5, 1.25))
    yield "of_probabilities", Model.from_fitted(weighted, warnings=["A warning."])
    yield "of_one_column", Model.from_fitted(oddsmith.TemperatureScaling().fit(logits[:, 0], y == 0))
    far = logits * np.where(np.arange(len(logits)) % 5 > 0, 1.0, 1e6)[:, None]
    yield "clipped", Model.from_fitted(oddsmith.MatrixScaling().fit(far, names))
    odds = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True) - np.exp(logits))
    for method in ("platt", "isotonic", "venn-abers"):
        yield f"one_vs_rest_{method}", one_vs_rest(method, odds, y, against_rest=True)
    p = probabilities(logits)
    yield "one_vs_rest_of_probabilities", one_vs_rest("beta", p, y, input="probabilities", column_names=columns)


def queries(model):
    """Rows of the data's kind, and far beyond them."""
    logits = sample(12, 3, 9)[0]
    if model.map.input == "probabilities":
        return np.vstack([probabilities(logits), np.eye(3), np.full((1, 3), 1 / 3)])
    rows = np.vstack([logits, [[1e4, -1e4, 0], [-1e4, -1e4, -1e4], [1e300, 0, -1e300]]])
    return rows[:, : model.map.columns]


def test_every_method_has_a_file():
    with ours_allowed():
        missing = {name for name, _ in examples()} - {path.stem for path in FILES}
    assert not missing, f"run tests/model/test_scaling_models.py as a script, and add what it writes: {missing}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_old_files_load_with_the_same_map(path):
    model = oddsmith.load(path)
    expected = json.loads((FOLDER / "answers" / path.name).read_text())
    np.testing.assert_allclose(model.predict_proba(expected["rows"]), expected["probabilities"], rtol=1e-12, atol=1e-15)
    assert model.to_json() == path.read_text()


class TestFilesBeforeSchema2:
    EXPECTED = json.loads((OLDER / "expected.json").read_text())

    @pytest.mark.parametrize("name", EXPECTED["logits"]["probabilities"])
    def test_of_logits(self, name):
        model = oddsmith.load(OLDER / name)
        found = model.predict_proba(self.EXPECTED["logits"]["logits"])
        np.testing.assert_allclose(found, self.EXPECTED["logits"]["probabilities"][name], rtol=1e-12)
        assert model.labels == LABELS
        assert model.data is None
        assert Model.from_json(model.to_json()) == model

    @pytest.mark.parametrize(
        ("name", "given"),
        [("scaling-1-of-probabilities.json", "probabilities_in"), ("scaling-1-one-column.json", "log_odds")],
    )
    def test_of_probabilities_and_of_one_column(self, name, given):
        expected = self.EXPECTED[name]
        found = oddsmith.load(OLDER / name).predict_proba(expected[given])
        np.testing.assert_allclose(found, expected["probabilities"], rtol=1e-12)

    @pytest.mark.parametrize(
        ("where", "value", "words"),
        [
            (("fitted", "shift"), [1.0], "shift must be finite and of shape"),
            (("fitted", "parts"), [], "parts must be a list"),
            (("fitted", "parts", 0, "coef"), [[1.0]], "coef must be finite and of shape"),
            (("fitted", "parts", 0, "weight"), 2.0, "weight must be"),
            (("labels",), ["a", "b"], "of shape"),
            (("columns",), 2, "columns must be one per label"),
            (("labels",), 7, "must be of schema 1 and have labels"),
            (("input",), "odds", "input must be logits or probabilities"),
            (("method",), "OtherScaling", "must contain one of AutoScaling, .*; got 'OtherScaling'"),
            (("schema",), 2, "must be of schema 1"),
            (("parameters",), [], "must be a list and an object"),
        ],
    )
    def test_what_does_not_hold_together_is_refused(self, tmp_path, where, value, words):
        refused(tmp_path, json.loads((OLDER / "scaling-1-AutoScaling.json").read_text()), where, value, words)


def refused(tmp_path, content, where, value, words):
    """Change one thing, make the checksum right, and see that the file is refused."""
    del content["checksum"]
    at = content
    for step in where[:-1]:
        at = at[step]
    at[where[-1]] = value
    path = tmp_path / "model.json"
    path.write_text(render(content))
    with pytest.raises(ModelFileError, match=words):
        oddsmith.load(path)


@pytest.mark.parametrize("method", SCALINGS.values(), ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("named", [True, False])
def test_what_is_saved_is_loaded(method, named, tmp_path):
    logits, y = sample()
    fitted = method().fit(logits, np.array(LABELS)[y] if named else y)
    fitted.save(tmp_path / "scaling.json")
    loaded = oddsmith.load(tmp_path / "scaling.json")
    assert isinstance(loaded, Model)
    np.testing.assert_array_equal(loaded.predict_proba(logits), fitted.predict_proba(logits))
    np.testing.assert_array_equal(loaded.predict(logits), fitted.predict(logits))
    assert loaded.labels == (LABELS if named else (0, 1, 2))
    assert loaded.verdict == getattr(fitted, "verdict_", "")
    assert loaded.data.rows == 150
    assert sum(loaded.data.weights) == 150
    with pytest.raises(InvalidInputError, match="must not exist yet"):
        fitted.save(tmp_path / "scaling.json")


def test_edited_files_are_refused(tmp_path):
    path = tmp_path / "scaling.json"
    oddsmith.AutoScaling().fit(*sample()).save(path)
    path.write_text(path.read_text().replace("logits", "probabilities"))
    with pytest.raises(ModelFileError, match="checksum"):
        oddsmith.load(path)


SCALED, RESTED = "AutoScaling", "one_vs_rest_platt"


@pytest.mark.parametrize(
    ("name", "where", "value", "words"),
    [
        (SCALED, ("map", "shift"), [1.0], "shift must be finite and of shape"),
        (SCALED, ("map", "parts"), [], "parts must be a list"),
        (SCALED, ("map", "parts", 0, "coef"), [[1.0]], "coef must be finite and of shape"),
        (SCALED, ("map", "parts", 0, "coef"), "x", "coef must be finite"),
        (SCALED, ("map", "parts", 0, "reading"), "odds", "reading must be one of"),
        (SCALED, ("map", "parts", 0, "softening"), -1, "softening must be"),
        (SCALED, ("map", "weights", 0), 2.0, "weights must be positive and sum to 1"),
        (SCALED, ("map", "weights", 0), -0.5, "weights must be positive and sum to 1"),
        (SCALED, ("map", "columns"), 2, "columns must be one per label"),
        (SCALED, ("map", "input"), "odds", "input must be logits or probabilities"),
        (SCALED, ("map", "shape"), "step", "map.shape must be one of one_vs_rest, scaling"),
        (SCALED, ("map",), [], "map.shape must be one of"),
        (SCALED, ("labels",), ["a", "b"], "of shape"),
        (SCALED, ("labels",), ["a", "a", "b"], "must differ"),
        (SCALED, ("labels",), ["a"], "at least 2 values"),
        (SCALED, ("column_names",), ["a"], "one name per column"),
        (SCALED, ("data", "rows"), 0, "data.rows must be"),
        (SCALED, ("data", "weights"), [1, 2], "data.weights must"),
        (SCALED, ("data", "weighted"), 1, "data.weighted must be true or false"),
        (SCALED, ("schema",), 1, "must"),
        (SCALED, ("schema",), 7, "reads schemas up to 6"),
        (SCALED, ("parameters",), [], "must be a list and an object"),
        (SCALED, ("verdict",), 7, "verdict must"),
        (RESTED, ("map", "maps"), [], "maps must be a list of one map per label"),
        (RESTED, ("map", "maps", 1), {}, "shape must be one of"),
        (RESTED, ("map", "against_rest"), 1, "against_rest must be true or false"),
    ],
)
def test_what_does_not_hold_together_is_refused(tmp_path, name, where, value, words):
    refused(tmp_path, json.loads((FOLDER / f"{name}.json").read_text()), where, value, words)


def test_one_class_reads_files_of_every_number_of_classes():
    for path, one_score in ((FOLDER / "AutoScaling.json", False), (MODELS / "PlattCalibrator.json", True)):
        model = Model.from_json(path.read_text())
        assert model == Model.load(path) == oddsmith.load(path)
        assert model.has_one_score == one_score
        assert model.to_json() == path.read_text()


def two_and_three_classes():
    """Return models of one score and of three columns, each with column names and segments."""
    rng = np.random.default_rng(5)
    logits = rng.normal(size=(90, 3))
    y = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    for scores, labels, method, names in (
        (logits[:, 1] - logits[:, 0], y == 1, oddsmith.PlattCalibrator, ("s",)),
        (logits, y, oddsmith.TemperatureScaling, ("a", "b", "c")),
    ):
        fits = {part: Model.from_fitted(method().fit(scores[part::2], labels[part::2])) for part in (0, 1)}
        own = Model.from_fitted(method().fit(scores, labels), column_names=names)
        yield own.with_segments("side", {f"part{part}": fit for part, fit in fits.items()}), scores


@pytest.mark.parametrize("which", [0, 1], ids=["two classes", "three classes"])
def test_segments_and_column_names_of_any_number_of_classes_are_kept(which, tmp_path):
    model, scores = list(two_and_three_classes())[which]
    assert model.schema == 3
    model.save(tmp_path / "model.json")
    again = oddsmith.load(tmp_path / "model.json")
    assert again == model
    assert again.column_names == model.column_names
    names = np.array(["part0", "part1", "new"])[np.arange(len(scores)) % 3]
    p = again.predict_proba(scores, names)
    for name in ("part0", "part1", "new"):
        own = again.of_segment(name).map.class_probability(scores[names == name])
        np.testing.assert_array_equal(p[names == name], own)


@pytest.mark.parametrize("which", [0, 1], ids=["two classes", "three classes"])
def test_segments_of_other_labels_are_refused(which, tmp_path):
    model, _ = list(two_and_three_classes())[which]
    parts = {name: replace(part, labels=("x", "y", "z")[: len(part.labels)]) for name, part in model.segments.items()}
    with pytest.raises(ModelFileError, match="segments must have the labels and columns of the model"):
        model.with_segments("side", parts).save(tmp_path / "model.json")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_maps_are_data(path):
    found = oddsmith.load(path).map
    assert isinstance(found, OneVsRestMap if path.stem.startswith("one_vs_rest") else ScalingMap)
    assert JointMap.from_dict(json.loads(json.dumps(found.to_dict()))) == found


@pytest.mark.parametrize("method", ["TemperatureScaling", "VectorScaling", "MatrixScaling"])
def test_a_steep_map_has_probabilities_for_large_logits(method):
    logits, y = sample()
    model = Model.from_fitted(SCALINGS[method.removesuffix("Scaling").lower()]().fit(logits * 1e-290, y))
    p = model.predict_proba([[1e300, 0, -1e300], [1e20, -3, 5], [-1e300, 1e300, 1e300]])
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert p[1, 0] == 1


def test_rows_that_do_not_fit_are_refused():
    model = oddsmith.load(FOLDER / "one_vs_rest_of_probabilities.json")
    for rows, words in (
        ([[0.5, 0.5]], "rows must have 3 columns"),
        ([[0.5, 0.6, 0.5]], "must sum to 1"),
        ([[2.0, -1.0, 0.0]], "rows must lie in|rows must be"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            model.predict_proba(rows)


if __name__ == "__main__":
    (FOLDER / "answers").mkdir(parents=True, exist_ok=True)
    for name, model in examples():
        if not (FOLDER / f"{name}.json").exists():
            print("writing", name)
            model.save(FOLDER / f"{name}.json")
            rows = queries(model)
            content = {"rows": rows.tolist(), "probabilities": model.predict_proba(rows).tolist()}
            (FOLDER / "answers" / f"{name}.json").write_text(json.dumps(content) + "\n")
