"""``oddsmith plan``: how many labels, by a file of probabilities or a Beta law."""


def test_a_law_and_a_file(run, predictions):
    found = run("plan", "--beta", "1.33", "1.75", "--slope", "0.2", "--json")
    assert found.code == 0
    assert found.json["needed"] == {"slope": 2135}
    by_file = run("plan", predictions, "-p", "p", "--gain", "0", "0.7", "--error", "0.02", "--json")
    assert set(by_file.json["needed"]) == {"gain", "error"}
    shown = run("plan", predictions, "-p", "p")
    assert "labels. Standard errors then: slope" in shown.out


def test_bad_questions_are_one_line(run, scores):
    assert "either prob or beta must be given" in run("plan").error
    assert "probabilities must lie in [0, 1]" in run("plan", scores, "-p", "score").error
    assert "width of slope" in run("plan", "--beta", "1", "1", "--slope", "0").error
