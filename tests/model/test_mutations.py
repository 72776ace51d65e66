"""Some of the mutations that ``benchmarks.fuzz_models`` makes by the hundred thousand."""

import json
from collections import Counter

import pytest
from benchmarks import fuzz_models

import oddsmith
from oddsmith.errors import ModelFileError
from oddsmith.model import CalibrationModel

PART = 500


@pytest.mark.heavy
@pytest.mark.parametrize("part", range(4))
def test_changed_files_are_refused_or_harmless(tmp_path, monkeypatch, part):
    monkeypatch.setenv("COLUMNS", "100")
    counts, failures = Counter(), []

    def told(number, outcome, why):
        counts[outcome] += 1
        failures.extend([(number, why)] if why else [])

    fuzz_models.fuzz(range(1 + part * PART, 1 + (part + 1) * PART), tmp_path, told)
    assert failures == []
    assert counts["python: refused"] + counts["python: harmless"] == PART
    assert min(counts["python: refused"], counts["python: harmless"]) > PART / 10
    assert sum(n for what, n in counts.items() if what.startswith("command")) == PART // fuzz_models.WAYS["command"]


def test_checksums_of_changed_files_are_right(tmp_path):
    """What is refused is refused for what it says, not for its checksum."""
    models = fuzz_models.bases()
    for content in models:
        rest = {key: value for key, value in content.items() if key != "checksum"}
        fuzz_models.load_text(fuzz_models.sealed(rest), tmp_path)
    deep = {key: value for key, value in models[0].items() if key != "checksum"}
    for depth, words in ((5, None), (12, "nested"), (200_000, "nesting")):
        text = fuzz_models.sealed({**deep, "parameters": {"a": fuzz_models.DEEP}}, depth)
        if words is None:
            assert CalibrationModel.from_json(text).parameters == {"a": [[[[[]]]]]}
        else:
            with pytest.raises(ModelFileError, match=words):
                CalibrationModel.from_json(text)
    words = []
    for number in range(200):
        try:
            fuzz_models.load_text(fuzz_models.mutated(models, number), tmp_path)
        except ModelFileError as error:
            words.append(str(error))
    assert not any("the checksum of a model file" in one for one in words)


def test_the_same_number_is_the_same_change():
    models = fuzz_models.bases()
    texts = [fuzz_models.mutated(models, number) for number in range(50)]
    assert texts == [fuzz_models.mutated(fuzz_models.bases(), number) for number in range(50)]
    assert len(set(texts)) == 50
    assert models == fuzz_models.bases()
    assert all(json.dumps(fuzz_models.DEEP) not in text for text in texts)


def test_harm_would_be_found(monkeypatch):
    """A model that gave NaN, and a command that failed in its own way, are told."""
    text = fuzz_models.sealed({key: v for key, v in fuzz_models.bases()[0].items() if key != "checksum"})
    with pytest.raises(fuzz_models.FoundError, match="ended with 1"):
        fuzz_models._judged(["show"], 1, "", "")
    for said in ("Traceback (most", "Error: X. Hint: this should not happen", "a\x1b[31m", "b\u202e"):
        with pytest.raises(fuzz_models.FoundError):
            fuzz_models._judged(["show"], 2, "", said)
    model = CalibrationModel.from_json(text)
    monkeypatch.setattr(type(model.map), "probability", lambda self, scores: scores * float("nan"))
    with pytest.raises(fuzz_models.FoundError, match="no probability"):
        fuzz_models._use(model)
    joint = oddsmith.load(fuzz_models.MODELS / "joint" / "VectorScaling.json")
    fuzz_models._use(joint)
    monkeypatch.setattr(type(joint.map), "probability", lambda self, rows: rows * 0)
    with pytest.raises(fuzz_models.FoundError, match="no probabilities"):
        fuzz_models._use(joint)
