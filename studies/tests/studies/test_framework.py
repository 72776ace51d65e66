"""A study can be killed and resumed, run in several processes, and written: always with the same results."""

import csv
import io
import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from toy import PAGE, RULES, illustrated_study, judged_study, toy_study

from oddsmith.errors import InvalidInputError
from oddsmith.metrics import Interval
from oddsmith.metrics.result import plain
from oddsmith_studies import studies
from oddsmith_studies.studies import Part, Setting, Table, _claims, _page
from oddsmith_studies.studies._page import read_template, write_page
from oddsmith_studies.studies._published import parse_published


def files_of(folder):
    """Return the bytes of all written files, but the times and the kept parts."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "parts" not in path.parts and path.name != "run.json"
    }


@pytest.fixture
def _toy_rules(monkeypatch):
    for module in (_claims, _page):
        monkeypatch.setattr(module, "rules", lambda: RULES)


@pytest.mark.usefixtures("_toy_rules")
def test_everything_is_written(tmp_path):
    result = studies.run(judged_study(), out=tmp_path)
    written = files_of(tmp_path)
    tables = {
        f"tables/{name}.{end}" for name in ("means", "overall", "claims", "evidence") for end in ("md", "csv", "json")
    }
    figures = {f"figures/{name}.{end}" for name in ("one", "every") for end in ("svg", "png")}
    assert set(written) == {"index.md", "index.html", "results.json"} | tables | figures
    saved = json.loads(written["results.json"])
    assert saved["made"]["seed"] == 0
    assert set(saved["made"]["versions"]) >= {"numpy", "scipy", "scikit-learn", "oddsmith"}
    assert saved["made"]["odd"] == {"SeparableWarning": 4}
    assert saved["claims"][0]["verdict"] == "holds"
    assert saved["evidence"]["9.0.1"][0] == {
        "case": "toys",
        "data": "the document's data",
        "value": -1.0,
        "low": -2.0,
        "high": -0.5,
    }
    assert saved["tables"][0]["rows"][0]["mean, published"] == 0.5
    assert saved["tables"][0]["rows"][0]["worst"] == "-inf"
    run = json.loads((tmp_path / "run.json").read_text())
    assert run["command"] == "oddsmith study toy"
    assert set(run["parts"]) == {f"draw-{i}" for i in range(4)}
    assert result.claims[0].id == "9.0.1"


@pytest.mark.usefixtures("_toy_rules")
def test_the_page_puts_things_where_its_template_wants_them():
    page = studies.run(judged_study()).page
    assert page.splitlines()[2] == "- **We found:** Toys work, as they should. It drew 4 times."
    order = [
        "It drew 4 times.",
        "**Means**",
        "![one]",
        "## Run it",
        "oddsmith study toy\n",
        "## Verdicts",
        "**Overall**",
    ]
    assert [page.index(each) for each in order] == sorted(page.index(each) for each in order)
    assert page.count("**Means**") == 1
    assert "Toys &#124; work" in page
    # What the template leaves out is linked at the end.
    assert page.index("## More tables") < page.index("](figures/every.svg)")
    assert page.count("<details>") == page.count("</details>") == 1
    assert "<summary>Details &amp; all</summary>" in page
    assert "{{" not in page


@pytest.mark.usefixtures("_toy_rules")
def test_verdicts_can_rest_on_several_seeds(tmp_path):
    studies.run(judged_study(), out=tmp_path)
    tables = (tmp_path / "tables" / "means.csv").read_text()
    studies.judge_again(judged_study(), tmp_path, seed=1, draws=3)
    page = (tmp_path / "index.md").read_text()
    assert "`oddsmith study toy --seed 1 --judge --draws 3`: seeds 1 to 3, study version 1, 4 parts each" in page
    assert (tmp_path / "tables" / "means.csv").read_text() == tables


@pytest.mark.usefixtures("_toy_rules")
def test_a_page_is_written_again_without_computing(tmp_path, monkeypatch):
    studies.run(judged_study(), out=tmp_path)
    before = files_of(tmp_path)
    studies.rewrite(replace(judged_study(), parts=fail_always), tmp_path)
    assert files_of(tmp_path) == before
    stricter = {"9.0.1": replace(RULES["9.0.1"], limit=-3.0)}
    for module in (_claims, _page):
        monkeypatch.setattr(module, "rules", lambda: stricter)
    studies.rewrite(judged_study(), tmp_path)
    assert "| fails |" in (tmp_path / "index.md").read_text()


def test_a_folder_without_results_cannot_be_rewritten(tmp_path):
    with pytest.raises(InvalidInputError, match=r"results.json.*run the study first"):
        studies.rewrite(toy_study(), tmp_path)


def test_the_html_page_shows_tables_pictures_and_folds(tmp_path):
    studies.run(illustrated_study(), out=tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert "<td>0</td>" in page
    assert '<img src="figures/one.svg" alt="one"' in page
    assert "<em>The first one.</em>" in page
    assert "<details>\n<summary>Details &amp; all</summary>" in page


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (PAGE.replace("table means", "table absent"), r"absent.*one of means, overall"),
        (PAGE.replace("{drawn}", ""), r"each of them; got drawn"),
        (PAGE.replace("{drawn}", "{drawn} {nothing}"), r"each of them; got nothing"),
    ],
    ids=["table", "unused", "unknown"],
)
def test_a_page_and_its_facts_must_fit(template, message):
    study = illustrated_study()
    record = studies.run(study).record
    with pytest.raises(InvalidInputError, match=message):
        write_page(record, template, study.facts(record))


def test_every_study_has_a_page():
    with pytest.raises(InvalidInputError, match=r"pages/absent\.md"):
        read_template("absent")


def test_the_same_seed_gives_the_same_bytes_in_one_process_or_two(tmp_path):
    studies.run(toy_study(), out=tmp_path / "one", seed=3)
    studies.run(toy_study(), out=tmp_path / "two", seed=3, jobs=2)
    studies.run(toy_study(), out=tmp_path / "other", seed=4)
    one, two, other = (files_of(tmp_path / name) for name in ("one", "two", "other"))
    assert one == two
    assert one["results.json"] != other["results.json"]


def test_drawings_and_panels_are_the_same_each_time():
    for figure in studies.run(illustrated_study()).figures:
        assert figure.display.to_svg() == figure.display.to_svg()
        assert figure.display.to_svg() != figure.display.to_svg(theme="dark")


def test_panels_want_a_figure_of_their_own():
    from matplotlib.figure import Figure

    with pytest.raises(InvalidInputError, match="figure of their own"):
        studies.Panels({}).plot(Figure().add_subplot())


def test_a_killed_run_goes_on_where_it_was(tmp_path, monkeypatch):
    counter, out = tmp_path / "calls", tmp_path / "out"
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r});"
        "from toy import toy_study; from oddsmith_studies import studies;"
        f"studies.run(toy_study({str(counter)!r}, 2), out={str(out)!r})"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    assert counter.read_text().split() == ["0", "1", "2"]
    assert not (out / "index.md").exists()
    monkeypatch.setenv("SURVIVE", "1")
    resumed = studies.run(toy_study(counter, 2), out=out, resume=True)
    assert counter.read_text().split() == ["0", "1", "2", "2", "3"]
    assert resumed.to_dict() == studies.run(toy_study(), out=tmp_path / "fresh").to_dict()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="processes are looked up in /proc")
def test_processes_end_with_the_run_that_was_killed(tmp_path):
    pids = tmp_path / "pids"
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from toy import sleeping_study; from oddsmith_studies import studies\n"
        f"if __name__ == '__main__': studies.run(sleeping_study({str(pids)!r}), jobs=2)"
    )
    script = tmp_path / "run.py"
    script.write_text(code)
    with subprocess.Popen([sys.executable, script]) as run:
        assert eventually(lambda: pids.exists() and len(pids.read_text().split()) == 2)
        run.kill()
    for pid in pids.read_text().split():
        assert eventually(lambda pid=int(pid): not is_running(pid))


def eventually(happens, seconds=60.0):
    """Return whether something happens within some time."""
    end = time.monotonic() + seconds
    while not (happened := happens()) and time.monotonic() < end:
        time.sleep(0.05)
    return happened


def is_running(pid):
    """Return whether a process runs; one that has ended may wait for somebody to ask how."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("change", [{"seed": 1}, {"quick": True}, {"resume": False}])
def test_only_the_same_results_are_taken_up(tmp_path, change):
    counter = tmp_path / "calls"
    studies.run(toy_study(counter), out=tmp_path / "out")
    studies.run(toy_study(counter), out=tmp_path / "out", **{"resume": True, **change})
    assert len(counter.read_text().split()) == 8


def test_other_versions_and_arguments_are_not_taken_up(tmp_path):
    counter = tmp_path / "calls"
    studies.run(toy_study(counter), out=tmp_path)
    studies.run(replace(toy_study(counter), version=2), out=tmp_path, resume=True)
    assert len(counter.read_text().split()) == 8
    studies.run(toy_study(), out=tmp_path, resume=True)  # without a counter the arguments differ
    studies.run(toy_study(counter), out=tmp_path, resume=True)
    assert len(counter.read_text().split()) == 12


def test_a_grid_has_results_of_its_own_and_is_told(tmp_path):
    counter = tmp_path / "calls"
    searching = replace(toy_study(counter), grids=("default", "paper"))
    studies.run(searching, out=tmp_path)
    found = studies.run(searching, out=tmp_path, resume=True, grid="paper")
    assert len(counter.read_text().splitlines()) == 8
    assert found.results.setting.grid == "paper"
    assert "oddsmith study toy --grid paper" in found.page
    studies.run(searching, out=tmp_path, resume=True)
    assert len(counter.read_text().splitlines()) == 8


def test_a_grid_that_a_study_does_not_have_is_refused():
    with pytest.raises(ValueError, match="grid of toy must be one of"):
        studies.run(toy_study(), grid="paper")


def test_a_quick_run_leaves_what_a_full_one_has_kept(tmp_path):
    counter = tmp_path / "calls"
    studies.run(toy_study(counter), out=tmp_path)
    studies.run(toy_study(counter), out=tmp_path, quick=True)
    studies.run(toy_study(counter), out=tmp_path, resume=True)
    assert len(counter.read_text().split()) == 8


def test_progress_is_told(tmp_path):
    seen = []
    studies.run(toy_study(), out=tmp_path, progress=seen.append)
    assert [each.done for each in seen] == [1, 2, 3, 4]
    assert [each.share for each in seen] == [0.1, 0.3, 0.6, 1.0]
    assert seen[0].total == 4
    assert seen[0].seconds_left == pytest.approx(9 * seen[0].seconds)
    assert seen[-1].seconds_left == 0
    studies.run(toy_study(), out=tmp_path, resume=True, progress=seen.append)
    assert [each.seconds_left for each in seen[4:]] == [None] * 4


def test_a_failing_part_is_named():
    failing = replace(toy_study(), parts=lambda _setting: [Part("bad", fail_always)])
    with pytest.raises(ZeroDivisionError) as caught:
        studies.run(failing)
    assert "bad" in caught.value.__notes__[0]


def fail_always(_setting):
    return 1 / 0


@pytest.mark.parametrize("names", [["a", "a"], ["A/b"], []])
def test_names_of_parts_are_checked(names):
    named = replace(toy_study(), parts=lambda _setting: [Part(name, fail_always) for name in names])
    with pytest.raises(InvalidInputError):
        studies.run(named)


@pytest.mark.parametrize("bad", [{"jobs": 0}, {"seed": -1}, {"resume": True}])
def test_bad_options_are_refused(bad):
    with pytest.raises(InvalidInputError):
        studies.run(toy_study(), **bad)


def test_an_unknown_study_is_refused_with_the_names():
    with pytest.raises(InvalidInputError, match="course-project"):
        studies.run("nothing")


def test_missing_data_say_what_to_put_where(tmp_path, monkeypatch):
    monkeypatch.delenv("ODDSMITH_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(InvalidInputError, match="sentiment"):
        studies.run(replace(toy_study(), data=("sentiment",)))


def test_every_study_is_listed_under_the_name_of_its_module():
    assert [study.name for study in studies.list()] == studies.names()
    assert all(study.title and study.published.document for study in studies.list())


def test_seeds_depend_on_the_whole_key():
    setting = Setting(seed=1)
    seeds = {setting.seed_of("a", 1), setting.seed_of("a", 2), setting.seed_of("b", 1), Setting(seed=2).seed_of("a", 1)}
    assert len(seeds) == 4


def test_csv_and_json_keep_all_digits():
    table = Table("t", "T", ("what", studies.Column("x", ".1f")), [("a", Interval(1 / 3, 0, 1, 0.95, "")), ("b", None)])
    rows = list(csv.reader(io.StringIO(table.to_csv())))
    assert rows[0] == ["what", "x", "x, low", "x, high"]
    assert float(rows[1][1]) == 1 / 3
    assert rows[2] == ["b", "", "", ""]
    assert table.to_dict()["rows"][0]["x, high"] == 1
    assert "| a | 0.3 [0.0, 1.0] |" in table.to_markdown()


def test_a_table_comes_back_from_its_json():
    columns = ("what", studies.Column("x", ".1f", "group"), studies.Column("n", "d"))
    rows = [["a", Interval(0.5, 0.25, 1.0, 0.95, ""), 3], ["b", None, None], ["c", float("-inf"), 4]]
    table = Table("t", "T", columns, rows, "Note.")
    again = Table.from_dict(json.loads(json.dumps(plain(table.to_dict()))))
    assert again.to_markdown() == table.to_markdown()
    assert again.to_dict() == table.to_dict()
    assert again.cell("n", "c") == 4
    with pytest.raises(InvalidInputError, match="must have the row"):
        again.cell("n", "d")


def test_a_wide_table_is_written_in_pieces_that_keep_groups_together():
    measures = [studies.Column(f"{group}{i}", "d", group) for group in "xyz" for i in range(4)]
    table = Table("t", "T", ("name", *measures), [["a", *range(12)]])
    headers = [line for line in table.to_markdown().splitlines() if line.startswith("| name")]
    assert headers == [
        "| name | x0 | x1 | x2 | x3 | y0 | y1 | y2 | y3 |",
        "| name | z0 | z1 | z2 | z3 |",
    ]


def test_ragged_rows_are_refused():
    with pytest.raises(InvalidInputError):
        Table("t", "T", ("a", "b"), [("x",)])


def test_published_tables_are_read():
    text = """
    document = "D"
    source = "S"
    [tables.one]
    where = "Table 1"
    keys = ["a", "b"]
    measures = ["x", "y"]
    rows = [["p", "q", -inf, 2], ["p", "r", nan, 3]]
    [figures]
    crossing = -0.17
    """
    found = parse_published(text)
    assert found.tables["one"].rows[("p", "q")] == {"x": float("-inf"), "y": 2.0}
    assert found.tables["one"].rows[("p", "r")]["x"] is None
    assert found.figures["crossing"] == -0.17
    with pytest.raises(InvalidInputError, match="cells"):
        parse_published(text.replace('"q", -inf, 2', '"q", -inf'))
