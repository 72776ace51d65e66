"""Source code: what it makes of scores that are none, and how it looks."""

import json
import subprocess

import numpy as np
import pytest
from cases import EDGES
from engines import needs_program

from oddsmith import SquashCalibrator
from oddsmith.errors import InvalidInputError
from oddsmith.export import to_c, to_javascript, to_python
from oddsmith.maps import LinearMap

RAMP = LinearMap(np.array([-1.0, 2.0]), np.array([0.25, 0.75]))


def python_function(fitted, output="probability"):
    names = {}
    exec(to_python(fitted, output=output), names)
    return names[output]


def test_python_takes_anything_that_is_a_number_or_missing():
    ramp = python_function(RAMP)
    assert ramp(None) is None
    assert np.isnan(ramp(float("nan")))
    assert (ramp(-np.inf), ramp(np.inf)) == (0.25, 0.75)
    assert ramp(2) == 0.75
    assert ramp(np.float32(0.5)) == RAMP.probability(0.5)
    odds = python_function(EDGES["flat odds"])
    assert all(np.isnan(odds(score)) for score in (-1.0, 0.0, 1.0, 2.0))
    assert python_function(EDGES["constant"])(5.0) == EDGES["constant"].probability(5.0)


def test_log_odds_are_held():
    line = python_function(SquashCalibrator().fit([-1.0, 1.0], [0, 1]), "log_odds")
    assert [line(score) for score in (-1e9, -3.0, 1e9)] == [-700.0, -3.0, 700.0]
    assert np.isnan(python_function(EDGES["flat odds"], "log_odds")(2.0))
    assert python_function(RAMP, "log_odds")(0.5) == pytest.approx(0.0, abs=1e-15)


def test_javascript_takes_anything_that_is_a_number_or_missing(tmp_path):
    for name, fitted in (("ramp", RAMP), ("odds", EDGES["flat odds"])):
        (tmp_path / f"{name}.cjs").write_text(to_javascript(fitted))
    script = (
        f"const ramp = require('{tmp_path}/ramp.cjs').probability, odds = require('{tmp_path}/odds.cjs').probability;"
        "const told = [ramp(null), ramp(undefined), ramp(NaN), ramp(-Infinity), ramp(Infinity), odds(0), odds(2)];"
        "console.log(JSON.stringify(told.map(String)));"
    )
    answer = subprocess.run([needs_program("node"), "-e", script], capture_output=True, check=True).stdout
    assert json.loads(answer) == ["null", "undefined", "NaN", "0.25", "0.75", "NaN", "NaN"]


def test_javascript_runs_as_a_plain_script(tmp_path):
    page = to_javascript(RAMP) + "console.log(probability(0.5));"
    script = f"require('vm').runInNewContext({json.dumps(page)}, {{ console }});"
    answer = subprocess.run([needs_program("node"), "-e", script], capture_output=True, check=True).stdout
    assert float(answer) == pytest.approx(0.5)


def test_c_takes_infinity_and_nan(tmp_path):
    source = to_c(RAMP) + (
        "#include <stdio.h>\n"
        'int main(void) { printf("%g %g %d", probability(-INFINITY), probability(INFINITY), isnan(probability(NAN))); }'
    )
    (tmp_path / "ramp.c").write_text(source)
    subprocess.run([needs_program("cc"), "ramp.c", "-o", "ramp", "-lm"], check=True, cwd=tmp_path)
    assert subprocess.run(["./ramp"], cwd=tmp_path, capture_output=True, check=True).stdout.split()[:2] == [
        b"0.25",
        b"0.75",
    ]
    assert subprocess.run(["./ramp"], cwd=tmp_path, capture_output=True, check=True).stdout.split()[2] != b"0"


@pytest.mark.parametrize("write", [to_python, to_javascript, to_c])
def test_headers_and_determinism(write):
    text = write(RAMP)
    assert "The probability of the positive class by score: LinearMap." in text.splitlines()[0]
    assert "Oddsmith" in text.splitlines()[1]
    assert text == write(RAMP)
    assert "log_odds(" in write(RAMP, output="log_odds") or "log_odds =" in write(RAMP, output="log_odds")
    with pytest.raises(InvalidInputError, match="output must be one of"):
        write(RAMP, output="odds")


def test_parts_that_occur_twice_are_computed_once():
    assert to_c(EDGES["one-sided basis"]).count("fabs(") == 1
