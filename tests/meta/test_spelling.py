"""American spelling, as scikit-learn and the rest of the ecosystem have it."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: Pages of studies are written by the studies, in the words of the documents they follow; made pages repeat others.
PAGES = [path for path in sorted(DOCS.rglob("*.md")) if path.relative_to(DOCS).parts[0] not in ("studies", "_made")]
SUFFIXES = {".py", ".j2", ".css", ".js"}
FILES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *PAGES,
    *sorted(path for path in (ROOT / "src").rglob("*") if path.suffix in SUFFIXES),
]

BRITISH = re.compile(
    r"[a-z]*(?:behavi|col|fav|flav|harb|hon|hum|lab|neighb|rum|vap)our\w*"
    r"|cent(?:re|red|res|ring)|(?:fib|lit|met|theat)res?"
    r"|(?P<stem>[a-z]+)is(?:e[drs]?|ers|ing|ations?)"
    r"|(?:anal|catal|paral)ys(?:e[drs]?|ers|ing)"
    r"|(?:cancel|label|level|model|signal|total|travel)l(?:ed|er|ing)"
    r"|(?:defen|licen|offen)ces?|grey\w*|learnt|spelt|judgement|artefacts?|sceptic\w*|ageing|whilst|amongst"
)

#: Words on "-ise" that are American too, without that ending; and all on "-wise".
AMERICAN = re.compile("adv|advert|ar|comprom|dev|exerc|no|prec|prom|ra|rev|r|superv|surpr|[a-z]*w")

#: Names that others gave, keys of files written so far, and words still to be changed.
KEPT = {
    "docs/scale.md": {"centred"},
    "src/oddsmith/export/__init__.py": {"neighbours"},
    "src/oddsmith/export/_probes.py": {"neighbouring", "neighbours"},
    "src/oddsmith/formula/pieces.py": {"neighbours"},
    "src/oddsmith/formula/sql.py": {"neighbour"},
    "src/oddsmith/frames/scored_frame.py": {"neighbours"},
    "src/oddsmith/maps/log_basis.py": {"centre"},  # a field of the map, and so of model files
    "src/oddsmith/metrics/ranking.py": {"generalisation"},  # in the title of a paper
    "src/oddsmith/model/_data.py": {"recognise", "summarise"},
    "src/oddsmith/model/_shapes.py": {"centre"},
    "src/oddsmith/report/decisions.py": {"neighbouring"},
    "src/oddsmith/report/score_space.py": {"colour", "colours"},
    "src/oddsmith/report/templates/table.html.j2": {"colour", "grey"},
    "src/oddsmith/report/templates/report.css": {"colour", "colours"},
    "src/oddsmith/report/templates/report.html.j2": {"colour", "grey"},
    "src/oddsmith/report/templates/score_space.svg.j2": {"colour"},
    "src/oddsmith/report/templates/theme.js": {"colours"},
}


def british(text):
    """Return the words of a text that are spelled the British way, also within names_of_things and NamesOfThings."""
    words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", text)}
    found = [match for word in words if (match := BRITISH.fullmatch(word))]
    return {match[0] for match in found if not (match["stem"] and AMERICAN.fullmatch(match["stem"]))}


def test_words_are_spelled_the_american_way():
    names = {path: path.relative_to(ROOT).as_posix() for path in FILES}
    found = {name: british(path.read_text("utf-8")) - KEPT.get(name, set()) for path, name in names.items()}
    assert {name: words for name, words in found.items() if words} == {}


def test_british_words_are_found_wherever_they_stand():
    found = british("The optimiser's neighbours; a _favoured PenalisedFit, NEIGHBOURS, labelled grey at the centre.")
    assert found == {"optimiser", "neighbours", "favoured", "penalised", "labelled", "grey", "centre"}
    assert not british("otherwise piecewise rising noise promises raised precise color labeled centered basis used")
