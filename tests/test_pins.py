"""The harness that compares the results of two trees finds what differs, and nothing else."""

import numpy as np
import pytest
from benchmarks import pins


@pytest.fixture
def folders(tmp_path):
    """Return two folders with the same records."""
    for name in ("old", "new"):
        recorded = pins.Pins(tmp_path / name, quick=True)
        recorded.keep("commands/show", "exit code 0\nlog-loss 0.25 of 3 rows --score\n")
        recorded.call("fits/platt", lambda: {"p": np.linspace(0.1, 0.9, 30), "slope": 1.5})
        recorded.call("fits/refused", lambda: float("x"))
    return tmp_path / "old", tmp_path / "new"


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_the_same_records_do_not_differ(folders):
    assert pins.compare(*folders) == []


@pytest.mark.parametrize(
    ("case", "old", "new"),
    [
        ("commands/show", "0.25", "0.26"),
        ("commands/show", "exit code 0", "exit code 2"),
        ("fits/platt", "slope = 1.5", "slope = 1.5000000000000002"),
        ("fits/platt", "result", "found"),
        ("fits/refused", "raised = ValueError", "raised = TypeError"),
    ],
)
def test_a_changed_text_is_found(folders, case, old, new):
    edit(folders[1] / f"{case}.txt", old, new)
    (found,) = pins.compare(*folders)
    assert found.startswith(f"{case}.txt: ")
    assert old in found
    assert new in found


def test_the_largest_change_of_numbers_is_given(folders):
    edit(folders[1] / "commands/show.txt", "0.25", "0.26")
    assert "1 numbers differ, at most by 0.0385 of their size; line 2" in pins.compare(*folders)[0]


def test_the_last_bit_of_a_probability_is_found(folders):
    path = folders[1] / "fits/platt@result.p.npy"
    p = np.load(path)
    p[7] = np.nextafter(p[7], 1)
    np.save(path, p)
    (found,) = pins.compare(*folders)
    assert found.startswith("fits/platt@result.p.npy: 1 of 30 differ")
    assert "at [7]" in found
    assert "max |Δ log-odds|" in found


@pytest.mark.parametrize(
    "change", [lambda p: p[1:], lambda p: p.astype(np.float32), lambda p: np.where(p < 0.2, np.nan, p)]
)
def test_another_shape_type_or_a_missing_value_is_found(folders, change):
    path = folders[1] / "fits/platt@result.p.npy"
    np.save(path, change(np.load(path)))
    assert len(pins.compare(*folders)) == 1


def test_the_sign_of_zero_is_found():
    assert pins.compared_arrays(np.zeros(3), np.array([0.0, -0.0, 0.0]))


@pytest.mark.parametrize("side", [0, 1])
def test_a_case_on_one_side_is_found(folders, side):
    (folders[side] / "commands/show.txt").unlink()
    assert pins.compare(*folders) == [f"commands/show.txt: only in {folders[1 - side]}"]


def test_renamed_words_do_not_differ(folders):
    edit(folders[1] / "commands/show.txt", "--score", "--scores")
    assert pins.compare(*folders)
    assert pins.compare(*folders, {"--score": "--scores"}) == []


def test_what_differs_between_runs_is_replaced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = f'{tmp_path}/model.json written by {pins.oddsmith.__version__} in  2.5 ms, "checksum": "{"a" * 64}"'
    assert pins.normalized(text) == 'FOLDER/model.json written by VERSION in TIME ms, "checksum": "CHECKSUM"'


def test_a_comparison_with_differences_ends_with_1(folders, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["pins", "compare", *map(str, folders)])
    assert pins.main() == 0
    edit(folders[1] / "commands/show.txt", "0.25", "0.26")
    assert pins.main() == 1
    assert capsys.readouterr().out.endswith("1 files differ\n")


def test_options_are_spelled_as_the_command_spells_them():
    words = ["fit", "a.csv", "--score", "margin", "-o", "m.json"]
    assert pins.spelled(words)[2] in pins.options_of("fit")
