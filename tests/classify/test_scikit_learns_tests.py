"""scikit-learn's own tests of its CalibratedClassifierCV, with our class in its place."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import sklearn

#: Each difference has its reason on the page "Coming from scikit-learn".
DIFFERENCES = {
    "test_calibration_cv_nfold": 1,
    "test_calibration_ensemble_false": 3,
    "test_calibrated_classifier_cv_double_sample_weights_equivalence": 5,
}


@pytest.mark.heavy
@pytest.mark.skipif(not sklearn.__version__.startswith("1.9"), reason="the page is about scikit-learn 1.9")
@pytest.mark.skipif(find_spec("sklearn.tests.test_calibration") is None, reason="scikit-learn without its tests")
def test_the_differences_are_those_that_are_documented(tmp_path):
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "0",
        "-p",
        "sklearn_swap",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
    ]
    command += ["--pyargs", "sklearn.tests.test_calibration", "--tb=no", "-rfE", "-k", "not curve and not display"]
    paths = [str(Path(__file__).parent), *sys.path]
    found = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    failed = re.findall(r"^FAILED \S*::(\w+)", found.stdout, flags=re.MULTILINE)
    assert {name: failed.count(name) for name in failed} == DIFFERENCES, found.stdout[-3000:]
    assert int(re.search(r"(\d+) passed", found.stdout)[1]) >= 80
