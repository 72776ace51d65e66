"""Model files written once load for ever, with the same map.

Run this file as a script to write the files of calibrators that have none yet; those that exist are never rewritten.
"""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import oddsmith
from catalogue import CLASSES
from oddsmith import ScoreTable
from oddsmith.maps import Effects, Term
from oddsmith.model import Model
from samples import ours_allowed

FOLDER = Path(__file__).parents[1] / "golden" / "models"
FILES = sorted(FOLDER.glob("*.json"))


def sample():
    rng = np.random.default_rng(7)
    scores = np.round(rng.normal(size=80) * 2, 1) + 0.0
    return scores, (rng.random(80) < 1 / (1 + np.exp(-scores))).astype(int)


def fit(calibrator, scores, y, labels=None):
    table = ScoreTable.from_arrays(scores, y)
    with ours_allowed():
        return Model.from_fitted(calibrator.fit_table(table), table=table, labels=labels)


def examples():
    """One model a calibrator, one of probabilities, one shifted, one with segments."""
    scores, y = sample()
    for cls in CLASSES:
        yield cls.__name__, fit(cls(), scores, y)
    prob = np.round(1 / (1 + np.exp(-scores)), 3)
    yield "of_probabilities", fit(oddsmith.PlattCalibrator(input="probability", clip=1e-6), prob, y, ("no", "yes"))
    yield "shifted", fit(oddsmith.IsotonicCalibrator(), scores, y).shifted(-0.7)
    parts = {
        name: fit(oddsmith.IsotonicCalibrator(), scores[rows], y[rows])
        for name, rows in {"süd": slice(40), "nord": slice(40, 80)}.items()
    }
    effects = Effects(
        2,
        (
            Term((0,), (("nord",), ("süd",)), np.array([0.3, -0.2]), np.zeros(2)),
            Term((0, 1), (("süd", "1"),), np.array([0.1]), np.array([-0.2])),
        ),
    )
    pooled = dataclasses.replace(
        fit(oddsmith.IsotonicCalibrator(), scores, y).shifted(0.1), parameters={"input": "score"}
    )
    yield "with_effects", pooled.with_effects(("region", "device"), effects)
    yield "with_segments", fit(oddsmith.IsotonicCalibrator(), scores, y).with_segments("region", parts)


def queries(model):
    """Scores of the data, between and beyond them."""
    low, high = model.data.low, model.data.high
    if model.parameters["input"] == "probability":
        return np.linspace(0, 1, 21)
    return np.concatenate([np.linspace(low, high, 21), [low - 1, low - 1e3, high + 1, high + 1e3]])


def answers(model):
    scores = queries(model)
    found = {"": model.map.probability(scores)}
    if model.effects is not None:
        keys = [*model.effects.crossings(), (None, None)]
        found |= {repr(key): model.probability(scores, np.array([key] * len(scores), dtype=object)) for key in keys}
    return found | {name: model.probability(scores, [name] * len(scores)) for name in model.segments}


def test_every_calibrator_has_a_file():
    missing = {cls.__name__ for cls in CLASSES} - {path.stem for path in FILES}
    assert not missing, f"run tests/model/test_golden_models.py as a script, and add what it writes: {missing}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_old_files_load_with_the_same_map(path):
    model = Model.load(path)
    expected = json.loads((FOLDER / "answers" / path.name).read_text())
    found = answers(model)
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-12, atol=1e-15)
    assert model.to_json() == path.read_text()


if __name__ == "__main__":
    (FOLDER / "answers").mkdir(parents=True, exist_ok=True)
    for name, model in examples():
        if not (FOLDER / f"{name}.json").exists():
            print("writing", name)
            model.save(FOLDER / f"{name}.json")
            content = {key: values.tolist() for key, values in answers(model).items()}
            (FOLDER / "answers" / f"{name}.json").write_text(json.dumps(content) + "\n")
