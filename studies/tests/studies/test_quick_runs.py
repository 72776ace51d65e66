"""Every study runs on the real data, quickly."""

import json
from typing import get_args

import pytest

from oddsmith_studies import studies
from oddsmith_studies.studies._claims import Verdict, rules


@pytest.mark.heavy
@pytest.mark.parametrize("name", studies.names())
def test_a_quick_run_tells_its_story(name, needs_data, tmp_path):
    study = studies.load(name)
    needs_data(study.data)
    result = studies.run(study, quick=True, out=tmp_path)

    assert result.claims, "a study judges claims"
    assert len({(claim.id, claim.data) for claim in result.claims}) == len(result.claims)
    assert {claim.id for claim in result.claims} == {rule.id for rule in rules().values() if rule.study == name}
    assert set(result.record.evidence) == {claim.id for claim in result.claims}, "a full run measures every claim"
    for claim in result.claims:
        assert claim.verdict in get_args(Verdict)
        assert all((claim.text, claim.published, claim.ours, claim.reason))

    saved = json.loads((tmp_path / "results.json").read_text(), parse_constant=pytest.fail)
    assert saved["made"]["quick"] is True
    assert set(saved["made"]["data"]) >= set(study.data)
    assert [table["name"] for table in saved["tables"]] == [table.name for table in result.tables]
    for table in result.tables:
        assert table.rows, table.name
    for figure in result.figures:
        assert (tmp_path / "figures" / f"{figure.name}.svg").read_text().rstrip().endswith("</svg>")
        assert (tmp_path / "figures" / f"{figure.name}.png").read_bytes().startswith(b"\x89PNG")
        assert figure.caption.endswith(".")

    page = (tmp_path / "index.md").read_text()
    assert "{{" not in page
    assert "nan" not in page.split()
    assert f"oddsmith study {name} --quick" in page
    again = {path: path.read_bytes() for path in tmp_path.rglob("*.md")}
    studies.rewrite(study, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.md")} == again
