"""Every method on the same data, each evaluated on cases that it was not fitted to."""

import html
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.calibrators import Calibrator
from oddsmith.data import Meaning, ScoreRows, ScoreTable, Signal
from oddsmith.errors import InvalidInputError, OddsmithWarning
from oddsmith.metrics import (
    GROUPS,
    ClassForecast,
    Comparison,
    Groups,
    NetBenefitDifference,
    Verdict,
    compare_gains,
    compare_net_benefit,
    plain,
    table_groups,
)
from oddsmith.report.advice import Advice, HeldOut, NextSteps, advise, by_preference
from oddsmith.report.held_out import HeldOutCases, RowCases, TableCases

__all__ = ["MethodComparison", "compare_methods", "compare_segments"]

#: Methods that are named where several do as well.
_NAMED = 5


@dataclass(frozen=True, kw_only=True, repr=False)
class MethodComparison:
    """Several methods compared by cross-validation.

    Attributes
    ----------
    comparison : Comparison
        Means, wins, losses and tests of every pair.
    n_folds : int
    failed : dict of str to str
        Methods that could not be fitted, and why.
    advice : Advice
        Which method to use, and what it gains.
    judged : Verdict
        Whether the uncalibrated scores can be used as probabilities.
    signal : Signal
        Whether the scores separate the classes at all.

    See Also
    --------
    compare_methods : Returns it.
    """

    comparison: Comparison
    n_folds: int
    failed: dict[str, str]
    advice: Advice
    judged: Verdict
    signal: Signal
    _cases: HeldOutCases
    _forecasts: dict[str, Floats]

    def held_out_forecast(self, method: str) -> ScoreTable | ClassForecast:
        """Return the forecast of a method, each case by a fit to the other folds.

        Parameters
        ----------
        method : str
            The name of a method of the comparison.

        Returns
        -------
        ScoreTable or ClassForecast
        """
        return self._cases.forecast(self._forecasts[method])

    def groups(self, method: str) -> Groups | None:
        """Return the groups of dependent rows of that forecast, as `oddsmith.metrics.evaluate` takes them.

        Parameters
        ----------
        method : str
            The name of a method of the comparison.

        Returns
        -------
        Groups or None
        """
        return self._cases.groups(self._forecasts[method])

    def compare_net_benefit(self, method: str, other: str) -> NetBenefitDifference | None:
        """Compare the net benefit of two methods of two classes on the same held-out cases; None for grouped rows.

        Parameters
        ----------
        method, other : str
            Names of two methods.

        Returns
        -------
        NetBenefitDifference or None
        """
        cases = self._cases
        if not isinstance(cases, TableCases) or cases.group is not None:
            return None
        first, second = (cases.probability(self._forecasts[name]) for name in (method, other))
        return compare_net_benefit(cases.truth, first, second, cases.decisions.weight)

    @property
    def ranking(self) -> list[str]:
        """Names of the methods, the smallest log-loss first."""
        part = self.comparison["log_loss"]
        return [part.names[i] for i in part.means.argsort(kind="stable")]

    def mean(self, measure: str) -> dict[str, float]:
        """Return the mean log_loss (in nats), squared_error or zero_one_error of each method.

        Parameters
        ----------
        measure : str
            The name of a measure.

        Returns
        -------
        dict[str, float]
        """
        part = self.comparison[measure]
        return dict(zip(part.names, part.means.tolist(), strict=True))

    @property
    def baseline(self) -> str:
        """What methods are compared with: uncalibrated scores, or the base rate where those are not probabilities."""
        return self.advice.baseline

    @property
    def verdict(self) -> str:
        """What to do, in words."""
        return self.advice.words

    @property
    def standing(self) -> str:
        """Which method has the smallest log-loss, and which others are statistically indistinguishable from it."""
        part, best = self.comparison["log_loss"], self.ranking[0]
        told = f"{best} has the least log-loss, {self.mean('log_loss')[best]:z.4f} per case"
        if self.advice.kind == "few":
            return f"{told}; the cases are too few to rank the methods."
        if self.advice.kind == "reversed":
            return f"{told}; compare again once {self.signal.remedy}."
        left = [name for name in self.ranking if name in part.not_beaten(best, corrected=True)]
        if not left:
            return f"{told}. It is significantly better than every other method."
        shown = ", ".join(left[:_NAMED]) + (f" and {len(left) - _NAMED} more" if len(left) > _NAMED else "")
        return f"{told}. Statistically indistinguishable from it: {shown}."

    def __repr__(self) -> str:
        return f"MethodComparison(methods={len(self._forecasts)}, n_folds={self.n_folds}, advice={self.advice.kind!r})"

    def __str__(self) -> str:
        return f"{self.verdict}\n{self.standing}"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.verdict)}</p>{self.comparison._repr_html_()}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the held-out forecasts as plain JSON.

        Returns
        -------
        dict
        """
        content = {
            "verdict": self.verdict,
            "standing": self.standing,
            "advice": {**asdict(self.advice), "gain": self.advice.gain._asdict()},
            "judged": self.judged,
            "signal": {**asdict(self.signal), "kind": self.signal.kind},
            "ranking": self.ranking,
            "folds": self.n_folds,
            "mean": {measure: self.mean(measure) for measure in self.comparison.measures},
            "failed": dict(self.failed),
            "comparison": self.comparison,
        }
        return dict(plain(content))


def compare_methods(
    data: ScoreTable | ScoreRows,
    methods: Mapping[str, Any],
    *,
    n_folds: int = 5,
    random_state: int = 0,
    input: Meaning = "score",
    groups: Groups | None = None,
    next_steps: NextSteps | None = None,
    progress: Callable[[float], None] | None = None,
) -> MethodComparison:
    """Fit every method to all folds but one, evaluate it on that one, test every pair, and recommend one.

    Whether the scores need calibration is decided by `oddsmith.metrics.verdict`. The first method by preference (the
    default, then the simplest smooth map) is recommended, unless others are significantly better after Holm's
    correction. Its gain is computed with the choice nested in the folds. Uncalibrated scores take part, or the base
    rate where they are not probabilities.

    Parameters
    ----------
    data : ScoreTable or ScoreRows
        Scores of a classifier that was not trained on these rows. Float weights of a table are dealt out to the folds
        row by row where no scores are tied within a class, else as (Σw)²/Σw² rows of equal weight; errors are then
        compared by t-tests too.
    methods : mapping of str to Calibrator or joint scaling
        Unfitted. With rows of several classes a calibrator is fitted to each class against the rest. Anything else with
        ``fit(scores, y)`` and ``predict_proba(scores)``, as in scikit-learn, is compared too; where it takes no
        ``sample_weight``, counted rows are repeated.
    n_folds : int, default 5
        At most the number of cases of the rarer class, or outside the most frequent one.
    random_state : int, default 0
    input : {"score", "probability", "log_odds"}, default "score"
        What the scores of a table mean uncalibrated. "score": probabilities where all lie in [0, 1], else nothing that
        has a log-loss, and methods are compared with the base rate. (Rows of several classes state what they contain.)
    groups : mapping of any key to ScoreTable, or array-like of shape (n,), optional
        The table of each group of dependent rows, such as the visits of a patient; they merge to ``data``, as those of
        ``ScoreTable.from_frame(..., by=...)`` do. With rows the group of each. Folds keep groups whole, and tests and
        intervals count groups.
    next_steps : NextSteps, optional
        How the verdict names the next step; by default in Python.
    progress : callable, optional
        Called with the share that is done, from 0 to 1.

    Returns
    -------
    MethodComparison

    See Also
    --------
    summarize : Adds what a report shows.
    oddsmith.metrics.compare : Compares forecasts that are there already.

    Examples
    --------
    >>> from oddsmith import PlattCalibrator
    >>> table = ScoreTable.from_arrays([0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9], [0, 0, 1, 0, 0, 1, 1, 1])
    >>> sorted(compare_methods(table, {"platt": PlattCalibrator()}).ranking)
    ['platt', 'uncalibrated']
    """
    cases: HeldOutCases
    if isinstance(data, ScoreTable):
        cases = TableCases(data, table_groups(groups), input, n_folds, random_state)
    else:
        cases = RowCases(data, groups, n_folds, random_state)
    fitted, failed = _held_out_forecasts(methods, cases, progress)
    forecasts = {cases.baseline: cases.baseline_forecasts, **fitted}
    gains = cases.gains(forecasts, random_state)
    comparison = compare_gains(gains, test="t" if cases.group is None else GROUPS, raw=cases.baseline)
    advice = advise(
        HeldOut(
            {name: -values for name, values in gains.log.items()},
            cases.decisions,
            cases.truth,
            cases.fold,
            cases.n_folds,
            cases.group,
        ),
        cases.baseline,
        cases.base_rate,
        by_preference({name: methods[name] for name in fitted}),
        cases.judged,
        next_steps=next_steps or _in_python(methods, several=isinstance(data, ScoreRows)),
    )
    return MethodComparison(
        comparison=comparison,
        n_folds=cases.n_folds,
        failed=failed,
        advice=advice,
        judged=cases.judged,
        signal=cases.signal,
        _cases=cases,
        _forecasts=forecasts,
    )


def compare_segments(
    segments: Mapping[str, ScoreTable | ScoreRows], methods: Mapping[str, Any], **options: Any
) -> tuple[dict[str, MethodComparison], dict[str, str]]:
    """Compare methods on each segment of the data alone.

    Parameters
    ----------
    segments : mapping of str to ScoreTable or ScoreRows
    methods : mapping of str to Calibrator or joint scaling
        Unfitted methods by name.
    **options
        Keyword arguments of `compare_methods`.

    Returns
    -------
    dict of str to MethodComparison
        Those whose gain by calibration is surely largest first.
    dict of str to str
        Segments that cannot be compared, and why.

    See Also
    --------
    compare_methods : For all rows together.
    oddsmith.audit.audit : Measures the calibration of segments.
    """
    found: dict[str, MethodComparison] = {}
    refused: dict[str, str] = {}
    for name, part in segments.items():
        try:
            found[name] = compare_methods(part, methods, **options)
        except InvalidInputError as reason:
            refused[name] = str(reason)
    gains = {name: one.advice.gain for name, one in found.items()}
    order = sorted(found, key=lambda name: (gains[name].low, gains[name].mean), reverse=True)
    return {name: found[name] for name in order}, refused


def _held_out_forecasts(
    methods: Mapping[str, Any], cases: HeldOutCases, progress: Callable[[float], None] | None
) -> tuple[dict[str, Floats], dict[str, str]]:
    """Return the forecasts of methods for all folds, each fitted to the others, and why some could not be fitted."""
    found, failed = {}, {}
    for done, (name, method) in enumerate(methods.items()):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", OddsmithWarning)
                found[name] = cases.forecasts(method)
        except ValueError as error:
            failed[name] = str(error)
        if progress is not None:
            progress((done + 1) / len(methods))
    if not found:
        _check.fail("some method must fit the data", f"none: {'; '.join(failed.values())}", "choose other methods")
    return found, failed


def _in_python(methods: Mapping[str, Any], *, several: bool) -> NextSteps:
    """Return the next steps as a program takes them."""

    def fit(name: str) -> str:
        made = f"{type(methods[name]).__name__}()"
        if not several:
            return f"{made}.fit(scores, y)"
        if isinstance(methods[name], Calibrator):
            return f"CalibratedClassifier(method={made}, multiclass='one_vs_rest')"
        return f"{made}.fit(rows, y)"

    if several:
        return NextSteps(fit, "put the columns in the order of the labels", "use them as probabilities")
    return NextSteps(fit, "negate the scores, or pass the other label as pos_label", "use them as probabilities")
