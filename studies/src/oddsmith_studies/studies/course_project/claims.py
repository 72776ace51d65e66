"""Verdicts of the course project: it asks and claims nothing, so what is judged are the answers to be expected."""

from oddsmith.checks import Floats
from oddsmith_studies.studies._claims import Claim, judge_all, judge_ordering
from oddsmith_studies.studies._published import Published
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies._tables import written
from oddsmith_studies.studies.course_project.measured import by_size, difference, mean, mean_of, score_kinds
from oddsmith_studies.studies.course_project.parts import CALIBRATION, SIZES

_ASKED = "asked, without a figure"


def all_claims(results: Results) -> list[Claim]:
    """Return a verdict on each expected answer."""
    published = results.published
    return [_squashing(results), _intercept(results), _isotonic(results), _sizes(results, published)]


def _squashing(results: Results) -> Claim:
    slope, gap = (mean_of(results, "split-", "squashing", measure) for measure in ("slope", "gap"))
    off = slope.low > 1 or slope.high < 1
    return Claim(
        "9.5.1",
        "Squashed margins are not calibrated: the reliability diagram leaves the diagonal.",
        _ASKED,
        f"slope {written(slope, '.2f')}, calibration error² {written(gap, '.4f')}",
        "confirmed" if off else "not confirmed",
        f"the 95 % interval of the calibration slope {'excludes' if off else 'includes'} 1",
    )


def _intercept(results: Results) -> Claim:
    change = difference(results, "split-", "Platt", "Platt, b = 0", "log_loss")
    gain = -difference(results, "split-", "Platt, b = 0", "squashing", "log_loss").value
    little = max(abs(change.low), abs(change.high)) < gain / 10
    return Claim(
        "9.5.2",
        "On balanced classes it matters little whether b is learned or held at 0.",
        _ASKED,
        f"learned less b = 0: log-loss {written(change, '+.4f')}; Platt with b = 0 gains {gain:.3f} on squashing",
        "confirmed" if little else "not confirmed",
        f"the 95 % interval of the difference {'stays' if little else 'does not stay'} below a tenth of that gain",
    )


def _isotonic(results: Results) -> Claim:
    log, squared = (difference(results, "split-", "isotonic", "Platt", each) for each in ("log_loss", "squared_error"))
    judged = [judge_ordering(each, expected="above") for each in (log, squared)]
    return Claim(
        "9.5.3",
        f"With {CALIBRATION} calibration cases Platt scaling is better than isotonic regression.",
        _ASKED,
        f"isotonic less Platt: log-loss {written(log, '+.4f')}, squared error {written(squared, '+.4f')}",
        judge_all([verdict == "confirmed" for verdict, _ in judged]),
        f"log-loss: {judged[0][1]}; squared error: {judged[1][1]}",
    )


def _sizes(results: Results, published: Published) -> Claim:
    said = published.figures["enough_for_isotonic"]
    ahead, helped = {}, {}
    for kind in score_kinds(results):
        raw, platt, isotonic = (by_size(results, kind, name) for name in ("uncalibrated", "Platt", "isotonic"))
        ahead[kind] = [_is_above(row) for row in isotonic - platt]
        helped[kind] = [_is_above(row) for row in raw - platt]
    return Claim(
        "9.4.5",
        f"With fewer than about {said['cases']:,} calibration cases Platt beats isotonic, and calibration helps even "
        f"with few of them: said of boosting, tried here on other scores.",
        f"{said['cases']:,} cases ({said['where']})",
        f"Platt ahead of isotonic with {_where(ahead)}. Platt ahead of no calibration with {_where(helped)}",
        judge_all([each for flags in (ahead, helped) for kind in flags for each in flags[kind]]),
        f"a size counts where the 95 % interval of the paired difference in squared error excludes 0; no more than "
        f"{SIZES[-1]:,} sentences can be spared to calibrate",
    )


def _is_above(differences: Floats) -> bool:
    return mean(differences).low > 0


def _where(held: dict[str, list[bool]]) -> str:
    """Name the sizes at which something holds, by kind of score."""
    found = []
    for kind, flags in held.items():
        sizes = [f"{size:,}" for size, flag in zip(SIZES, flags, strict=True) if flag]
        found.append(f"{' / '.join(sizes) or 'no number of'} cases ({kind})")
    return ", ".join(found)
