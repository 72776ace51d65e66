"""The demo runs and shows that calibrating was worth it."""

from oddsmith import demo


def test_demo_prints_a_comparison(capsys):
    demo.main()
    lines = capsys.readouterr().out.splitlines()
    losses = {line.split()[0]: float(line.split()[1]) for line in lines if line.endswith(("ms", "best", "says)"))}
    assert losses["Platt"] < 0.6 < 2 < losses["Squash"]
    assert any("<- best" in line for line in lines)
