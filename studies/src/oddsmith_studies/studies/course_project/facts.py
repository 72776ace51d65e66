"""The page of the course project: its six questions and the answers."""

from collections import Counter

import numpy as np

from oddsmith.metrics import Interval
from oddsmith_studies.studies._study import Results
from oddsmith_studies.studies._tables import written
from oddsmith_studies.studies.course_project.measured import (
    difference,
    infinite,
    mean,
    mean_of,
    rejected,
    site_methods,
    values,
)
from oddsmith_studies.studies.course_project.parts import CALIBRATION, SIZES, SMALL_TRAIN, TEST, TRAIN, WORDS, costs


def all_remarks(results: Results) -> dict[str, str]:
    """Return what was found in short, and the answers to the six questions."""
    six = (_training, _squashing, _platt, _isotonic, _merits, _classes)
    return {
        "found": _found(results),
        "answers": "\n\n".join([_opening(results), *(answer(results) for answer in six)]),
    }


def _found(results: Results) -> str:
    slope = mean_of(results, "split-", "squashing", "slope")
    change = difference(results, "split-", "Platt", "Platt, b = 0", "log_loss")
    log, squared = (difference(results, "split-", "isotonic", "Platt", each) for each in ("log_loss", "squared_error"))
    return (
        f"Squashed margins are too timid (calibration slope {written(slope, '.2f')}); learning b changes the log-loss "
        f"by {written(change, '+.4f')}; with {CALIBRATION} calibration cases isotonic regression less Platt scaling is "
        f"{written(log, '+.4f')} in log-loss and {written(squared, '+.4f')} in squared error."
    )


def _opening(results: Results) -> str:
    return f"""\
## What was done

One split of {TRAIN:,} sentences to train, {CALIBRATION} to calibrate and {TEST} to test decides little, so that the
answers are over {len(results.starting("split-"))} random splits. Words are in lower case, digits and punctuation
removed, eleven stop words dropped, and the {WORDS:,} most frequent words counted. What the hand-out calls Platt scaling
is maximum likelihood; Platt's own targets are run beside it."""


def _training(results: Results) -> str:
    parts, first, tried = results.starting("split-"), results["split-000"], costs(results.setting.quick)
    chosen = Counter(part["cost"] for part in parts)
    usual, times = chosen.most_common(1)[0]
    return f"""\
## 1. Training the support vector machine

C was chosen among {len(tried)} values from {tried[0]:.4f} to {tried[-1]:g}, by five-fold cross-validation on the
training set alone. In the first split that gave C = {first["cost"]:g} with a cross-validated error of
{min(first["cv_error"]):.1%}, and an error of {first["error"]:.1%} on the test set. Over all splits C lay between
{min(chosen):g} and {max(chosen):g} ({usual:g} in {times} of {len(parts)}), and the test error is
{written(mean([part["error"] for part in parts]), ".1%")}.

{{{{ figure cost }}}}"""


def _squashing(results: Results) -> str:
    slope = mean_of(results, "split-", "squashing", "slope")
    answer = "No." if slope.low > 1 or slope.high < 1 else "These data do not decide."
    lean = "too timid: it stays too close to ½" if slope.value > 1 else "too sure: it goes too close to 0 and 1"
    return f"""\
## 2. Is the squashing function calibrated?

{answer} A calibrated forecast has slope 1; here it is {written(slope, ".2f")}, and a test at 5 % rejects calibration in
{rejected(results, "squashing"):.0%} of the splits. The forecast is {lean}. Nothing in the training of the machine knows
of probabilities: it asks margins of its training cases to reach 1, C decides how hard, and so the unit of the score has
nothing to do with log-odds.

{{{{ figure reliability }}}}"""


def _platt(results: Results) -> str:
    change = difference(results, "split-", "Platt", "Platt, b = 0", "log_loss")
    gain = difference(results, "split-", "Platt", "squashing", "log_loss")
    parts = results.starting("split-")
    learned = [part["intercept"] for part in parts]
    slope, penalized = (float(np.mean([part[key] for part in parts])) for key in ("slope", "penalized_slope"))
    verdict = _by_sign(change, "Learning b is better", "Holding b at 0 is better", "Neither is measurably better")
    return f"""\
## 3. Platt scaling, with b = 0 and with b learned

{verdict}: learning b changes the log-loss by {written(change, "+.4f")}. The classes are balanced in all three sets, so
the score at which both are equally likely is near 0 by itself. The learned b is {np.mean(learned):+.2f} on average with
a standard deviation of {np.std(learned, ddof=1):.2f}: what is learned is mostly chance. Where the shares of the classes
differ, b is what corrects for them.

{_by_sign(gain, "Both are better than squashing", "Squashing is better", "The gain on squashing is not certain")}:
learning a and b changes its log-loss by {written(gain, "+.3f")}, because a, here {slope:.1f} on average, gives the
score its unit.

A trap: scikit-learn's `LogisticRegression()` by default penalizes the slope, and finds {penalized:.2f} on average
instead of {slope:.2f}. Platt's own targets shrink it too, but less the more cases there are.

{{{{ table differences }}}}

{{{{ figure maps }}}}"""


def _isotonic(results: Results) -> str:
    log, squared = (difference(results, "split-", "isotonic", "Platt", each) for each in ("log_loss", "squared_error"))
    bounded = difference(results, "split-", "isotonic, bounded", "Platt", "log_loss")
    milder = float(values(results, "split-", "isotonic", "log_loss_at_1e-6").mean())
    return f"""\
## 4. Isotonic regression

With {CALIBRATION} calibration sentences it is {_by_sign(log, "better", "worse", "not measurably different")} in
log-loss: {written(log, "+.4f")} against Platt; in squared error {written(squared, "+.4f")}. It follows steps of the
calibration set that are chance, and says 0 and 1. In {infinite(results, "isotonic")} of
{len(results.starting("split-"))} splits a test sentence contradicts such a certainty, and the log-loss is infinite
unless probabilities are held away from the ends, as they are in the tables (within a millionth instead, it would be
{milder:.3f}). The bounded variant stays away from them by itself: {written(bounded, "+.4f")} against Platt.

{{{{ figure losses }}}}"""


def _merits(results: Results) -> str:
    repeats = len(results.starting("sizes-"))
    return f"""\
## 5. When which?

Platt scaling assumes a shape and estimates two numbers; isotonic regression assumes only order and estimates a
function. So the first is better while cases are few or the log-odds are straight in the score; the second when there
are many cases and the shape is another. To see it, {SMALL_TRAIN:,} sentences train, so that up to {SIZES[-1]:,} are
left to calibrate, {repeats} times. Isotonic regression does not care whether it is given a probability or its log-odds,
the order being the same; Platt scaling does, as the two pictures of naive Bayes show.

{{{{ figure sizes }}}}

{{{{ fold Squared error by the number of calibration cases }}}}

{{{{ table sizes }}}}

{{{{ end }}}}"""


def _classes(results: Results) -> str:
    best = min(site_methods(results), key=lambda name: mean_of(results, "sites-", name, "log_loss").value)
    gain = difference(results, "sites-", best, "softmax of the margins", "log_loss")
    return f"""\
## 6. More than two classes

Calibration can mean that the probability of each class is right by itself (class-wise), that the probability of the
class said to be most likely is right (top-label), or that whole vectors of probabilities are, which few data can ever
show. Two ways lead there: reduce to two classes, each against the rest and normalized to the sum 1, or all pairs and
coupled; or scale all margins jointly, in the simplest case by one temperature.

The same sentences pose such a problem: on which of the three sites did a sentence stand? The smallest log-loss has
*{best}*, {written(gain, "+.3f")} against a softmax of the margins themselves.

{{{{ figure sites }}}}

{{{{ table sites }}}}"""


def _by_sign(change: Interval, below: str, above: str, undecided: str) -> str:
    """Choose words by where the interval of a difference lies."""
    return below if change.high < 0 else above if change.low > 0 else undecided
