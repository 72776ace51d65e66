"""Verdicts on what the document claims of ten learners, its Figure 6."""

from oddsmith_studies.studies._claims import Claim, judge_all
from oddsmith_studies.studies._published import Published
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.measured import TEN, Learned, learned
from oddsmith_studies.studies.niculescu_mizil_caruana_2005.methods import SQUARED_ERROR

#: A change that is smaller is none.
_NONE = 0.02


def learner_claims(results: Results, published: Published) -> tuple[Claim, Claim]:
    """Return the verdicts on learners after, and before, calibration, in squared error as the document's figure."""
    said = published.figures["learners"]
    found = {learner: learned(results, learner, SQUARED_ERROR) for learner in TEN}
    after = sorted(TEN, key=lambda learner: found[learner].after.value)
    before = sorted(TEN, key=lambda learner: found[learner].before.value)
    gains = sorted(TEN, key=lambda learner: _change(found[learner]))
    first, second = (found[learner].after for learner in after[:2])
    held = {
        f"{said['best']} is best": after[0] == said["best"],
        f"next are {', '.join(said['next'])}": set(after[1:5]) == set(said["next"]),
        f"the largest gains are those of {', '.join(said['largest_gains'])}": set(gains[:4])
        == set(said["largest_gains"]),
        **{f"{each} needs no calibration": abs(_change(found[each])) < _NONE for each in said["need_none"]},
        **{
            f"isotonic regression is no worse than Platt scaling for {each}": found[each].isotonic.value
            <= found[each].platt.value
            for each in said["isotonic_not_worse"]
        },
    }
    apart = "apart" if first.high < second.low else "within each other's reach"
    return (
        Claim(
            "9.4.6",
            "After calibration boosted trees are the best of ten learners, then come SVM, RF, ANN and BAG-DT; boosted "
            "trees, SVM, boosted stumps and NB gain most; ANN and BAG-DT need no calibration; isotonic regression is "
            "no worse than Platt scaling for BAG-DT, ANN, KNN, DT, LOGREG and NB.",
            "a picture",
            f"after calibration: {_listed(after, found, 'after')}; the first two are {apart}; change: "
            + ", ".join(f"{learner} {100 * _change(found[learner]):+.1f} %" for learner in gains),
            judge_all(list(held.values())),
            f"squared error, the better of Platt and isotonic, mean over problems; no need: a change below "
            f"{100 * _NONE:g} %; not so: {'; '.join(name for name, true in held.items() if not true) or 'none'}",
        ),
        Claim(
            "9.4.11",
            "Before calibration RF, ANN and BAG-DT are best.",
            "a picture",
            _listed(before, found, "before"),
            judge_all([learner in before[:3] for learner in said["best_before"]]),
            "the three least mean squared errors of ten; some would be enough for a part",
        ),
    )


def _change(found: Learned) -> float:
    return found.after.value / found.before.value - 1


def _listed(order: list[str], found: dict[str, Learned], when: str) -> str:
    return ", ".join(f"{learner} {getattr(found[learner], when).value:.4f}" for learner in order)
