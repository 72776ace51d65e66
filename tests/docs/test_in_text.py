"""Names in running text lead to the reference and break between words; figures keep their units."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "_ext"))
from in_text import bound, breakable, targets


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("AutoCalibrator", ["oddsmith.AutoCalibrator"]),
        ("PlattCalibrator().fit(scores, y)", ["oddsmith.PlattCalibrator"]),
        ("ScoreTable.from_frame(...)", ["oddsmith.ScoreTable.from_frame", "oddsmith.ScoreTable"]),
        ("oddsmith.metrics.roc_auc", ["oddsmith.metrics.roc_auc"]),
        ("metrics.roc_auc(y, p)", ["oddsmith.metrics.roc_auc"]),
        ("oddsmith.load(path)", ["oddsmith.load"]),
        ("log_loss", ["oddsmith.metrics.log_loss"]),
        ("load", []),
        ("AutoCalibratorX", []),
        ("n_bins=5", []),
        ("oddsmith fit scores.csv", []),
        ("", []),
    ],
)
def test_a_name_leads_to_its_page(code, found):
    assert list(targets(code)) == found


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        ("MonotoneLogisticCalibrator", "Monotone|Logistic|Calibrator"),
        ("ENIRCalibrator(None)", "ENIR|Calibrator(|None)"),
        ("PlattCalibrator", "PlattCalibrator"),  # short enough
        ("ScoreTable.from_frame(path,", "Score|Table.|from_|frame(|path,"),
        ("accuracy=&quot;keep&quot;", "accuracy=|&quot;keep&quot;"),
        ("0.123456789012345678", "0.123456789012345678"),
    ],
)
def test_a_name_breaks_between_its_words(code, parts):
    assert breakable(code) == parts.replace("|", "<wbr>")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("95 % of 3 × 10³", "95~% of 3~×~10³"),
        ("1.07 [0.85, 1.27]", "1.07 [0.85,~1.27]"),
        ("[−0.2, +1]", "[−0.2,~+1]"),
        ("in 3 ms, 5 GB and 4 steps with σ = 3", "in 3~ms, 5~GB and 4 steps with σ =~3"),
        ("0.84–0.94, Venn–Abers", "0.84–^0.94, Venn–Abers"),
        ("in [0, 1], say % or ×", "in [0,~1], say % or ×"),
    ],
)
def test_figures_do_not_break(text, parts):
    assert bound(text) == parts.replace("~", "\N{NO-BREAK SPACE}").replace("^", "\N{WORD JOINER}")
