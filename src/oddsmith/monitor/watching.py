"""The monitor: labels as they arrive, and whether the probabilities still hold."""

import hashlib
import json
import math
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from oddsmith import _check
from oddsmith._types import Floats
from oddsmith.atomic import write_atomically
from oddsmith.data import ScoreTable
from oddsmith.errors import StepMapWarning
from oddsmith.maps import SUREST, InputMap, LinearMap, StepMap, logit, rows_by_segment
from oddsmith.metrics import Result
from oddsmith.model import DataSummary, Model, map_of, model_of, table_hash
from oddsmith.monitor.evidence import ALTERNATIVES, PRIOR, Evidence, MapError

__all__ = ["Batch", "Finding", "Monitor", "Watch"]

_FORMAT = "oddsmith monitor"

#: Batches that a state remembers one by one, over all segments; older ones are joined in pairs.
_MOST_BATCHES = 2000

#: Characters of a batch's name.
_LONGEST_NAME = 100

#: Digits of log-likelihood ratios in the log of batches, which only dates the loss.
_DIGITS = 3

#: What a state's file has.
_KEYS = {"alpha", "model", "by_segment", "n_batches", "batches", "positions", "tracks"}


@dataclass(frozen=True)
class Batch:
    """The entry of a batch in the log of a monitor.

    Parameters
    ----------
    name : str
        Its name; of batches that were joined, that of the last.
    first, last : int
        Its rows, counted from 1 in the order of arrival.
    positives : int
        Rows with the positive label.
    expected : float
        How many were expected from the probabilities.
    before : float
        Log-likelihood of no loss before it.
    ratios : tuple of float
        Log-likelihood ratio of each alternative.
    evidence : float
        Natural logarithm of the evidence after it.

    See Also
    --------
    Monitor : Counts them.
    """

    name: str
    first: int
    last: int
    positives: int
    expected: float
    before: float
    ratios: tuple[float, ...]
    evidence: float

    def join(self, later: "Batch") -> "Batch":
        """Return both as one.

        Parameters
        ----------
        later : Batch
            The batch that follows.

        Returns
        -------
        Batch
        """
        ratios = tuple(round(a + b, _DIGITS) for a, b in zip(self.ratios, later.ratios, strict=True))
        sums = (self.positives + later.positives, self.expected + later.expected)
        return Batch(later.name, self.first, later.last, *sums, self.before, ratios, later.evidence)


@dataclass(frozen=True, eq=False)
class Finding(Result):
    """Whether the probabilities of all rows, or of a segment, are still calibrated.

    Attributes
    ----------
    segment : str or None
        None for all rows.
    alarm : bool
        Whether the evidence has ever reached its threshold. An alarm stays.
    alarm_row : int or None
        Rows when it did.
    rows : int
        Rows with labels so far.
    positives, expected : float
        Positive rows, and how many were expected from the probabilities.
    evidence, threshold : float
        Evidence against calibration now, and from when on it is an alarm.
    p_value : float
        1 over the largest evidence so far: a p-value that may be looked at at any time.
    since_row : int or None
        First row after the loss, at its most probable time; with ``since``, the name of its batch. None without alarm.
    since : str or None
    offset, slope : float
        Mean of the line that the log-odds of the truth follow over those of the map since the loss: offset at the
        center, slope about it.
    direction : {"too low", "too high", "too extreme", "too timid", ""}
        What the probabilities are; empty without alarm.
    base_rate : bool or None
        Whether a moved base rate, an offset alone, explains the rows at least as well as a changed slope.

    See Also
    --------
    Watch : Contains one per segment.
    """

    segment: str | None
    alarm: bool
    alarm_row: int | None
    rows: int
    positives: int
    expected: float
    evidence: float
    threshold: float
    p_value: float
    since_row: int | None
    since: str | None
    offset: float
    slope: float
    direction: str
    base_rate: bool | None

    def __str__(self) -> str:
        of = "" if self.segment is None else f"segment {self.segment}: "
        told = f"evidence {self.evidence:.3g} of {self.threshold:.3g}, {self.rows:,} rows"
        if not self.alarm:
            return f"{of}No alarm: {told}."
        why = "a moved base rate would explain it" if self.base_rate else "a moved base rate does not explain it"
        return (
            f"{of}ALARM: probabilities are {self.direction} since row {self.since_row:,} ({self.since}); offset "
            f"{self.offset:+.2f}, slope {self.slope:.2f}; {why}; {told}."
        )


@dataclass(frozen=True, eq=False)
class Watch(Result):
    """Result of a monitor after a batch; ``str`` is one line.

    Attributes
    ----------
    alarm : bool
        Whether there is an alarm of all rows or of any segment.
    alpha : float
        The probability of a false alarm anywhere in an endless run is this at most.
    batches : int
        Batches so far.
    findings : tuple of Finding
        Of all rows, then of each segment in the order in which they came, those of a batch by name.

    See Also
    --------
    Monitor : Returns it.
    """

    alarm: bool
    alpha: float
    batches: int
    findings: tuple[Finding, ...]

    def __str__(self) -> str:
        shown = [each for each in self.findings if each.alarm] or list(self.findings[:1])
        rest = len(self.findings) - 1
        more = f" {rest} segments." if rest and not self.alarm else ""
        return " ".join(map(str, shown)) + more


@dataclass
class _Track:
    """The evidence of all rows or of a segment, its share of the error probability, and its log."""

    evidence: Evidence
    alpha: float
    log: list[Batch] = field(default_factory=list)
    largest: float = 0.0
    alarm_row: int | None = None

    def add(self, forecast: ScoreTable, name: str) -> None:
        before, rows = self.evidence.null, self.evidence.rows
        ratios = self.evidence.add(forecast)
        found = self.evidence.log_evidence
        self.largest = max(self.largest, found)
        if self.alarm_row is None and found >= -math.log(self.alpha):
            self.alarm_row = self.evidence.rows
        promised = float(forecast.total @ _probability(forecast.scores))
        self.log.append(
            Batch(
                name,
                rows + 1,
                self.evidence.rows,
                int(forecast.n_pos),
                promised,
                before,
                tuple(np.round(ratios, _DIGITS).tolist()),
                found,
            )
        )

    def shorten(self, most: int) -> None:
        """Join the older half of the log in pairs, where it is too long."""
        while len(self.log) > most:
            half = len(self.log) // 2 // 2 * 2
            pairs = zip(self.log[:half:2], self.log[1:half:2], strict=True)
            self.log = [first.join(second) for first, second in pairs] + self.log[half:]

    def onset(self) -> Batch:
        """Return the batch with which the loss most probably began."""
        after = np.cumsum([each.ratios for each in reversed(self.log)], axis=0)[::-1]
        return self.log[int(np.argmax(np.logaddexp.reduce(after, axis=1) + [each.before for each in self.log]))]

    def finding(self, segment: str | None) -> Finding:
        """Return what the track shows."""
        alarm = self.alarm_row is not None
        onset = self.onset() if alarm else None
        offset, slope = (self.evidence.belief @ ALTERNATIVES).tolist()
        is_offset = _is_offset(self.evidence.belief) if alarm else None
        return Finding(
            segment,
            alarm,
            self.alarm_row,
            self.evidence.rows,
            sum(each.positives for each in self.log),
            sum(each.expected for each in self.log),
            _exp(self.evidence.log_evidence),
            1 / self.alpha,
            min(1.0, _exp(-self.largest)),
            None if onset is None else onset.first,
            None if onset is None else onset.name,
            offset if alarm else 0.0,
            slope if alarm else 1.0,
            _direction(is_offset, offset, slope) if is_offset is not None else "",
            is_offset,
        )


class Monitor:
    """Monitor whether the probabilities of a model stay calibrated as labels arrive.

    Batches of scores and labels, of any size, enter in the order in which their labels arrive; labels may be late and
    batches out of order, as long as which rows get a label does not depend on it. After each batch there is evidence
    against calibration: the likelihood ratio of a mixture of losses, of 25 lines of the log-odds and of all times of
    the loss, against none. While the probabilities are right, it reaches 1/alpha with probability alpha at most,
    however often one looks and however long the run is (Ville's inequality).

    A fitted map is never exact. The probability that the labels have without a loss is therefore an average over the
    sampling error of the map, a normal law of the offset and slope of its log-odds; the guarantee is an average
    over such errors. Rows before a loss show what the error is, so that little power is lost once they outnumber the
    rows of the fit. P of exactly 0 or 1, from n rows, is read as 1/(2n + 1) or its complement. Not allowed for: errors
    of the map that no line through its log-odds has, such as those of steps (`StepMapWarning`), or of a method that
    does not suit the scores.

    Segments have evidence of their own. The probability of any false alarm in the whole run stays at most alpha: all
    rows have alpha/2, and the k-th segment to appear alpha/((k + 1)(k + 2)) (Bonferroni, of e-values).

    Parameters
    ----------
    model : Model, fitted calibrator, CalibrationMap or None
        Of two classes and one score. None: scores are probabilities, and exact.
    calibration : ScoreTable, optional
        The rows of the fit, scores and labels. Without it the error of the map is that of a fit to as many rows as the
        model was fitted to, with scores as in the first batch, which must have 20 rows; a map alone, without the
        number of rows of its fit, is taken as exact.
    alpha : float, default 0.05
        Probability of a false alarm.
    by_segment : bool, default False
        Whether batches come by segment.

    See Also
    --------
    recalibrate : Proposes a new model after an alarm.
    oddsmith.expected.expected_performance : Before labels arrive.

    References
    ----------
    Shafer (2021), Testing by betting; Ramdas, Grünwald, Vovk & Shafer (2023), Game-theoretic statistics and safe
    anytime-valid inference; Shin, Ramdas & Rinaldo (2024), E-detectors.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(3000)
    >>> monitor = Monitor()
    >>> print(monitor.update(p, (rng.random(3000) < p).astype(int)))
    No alarm: evidence 0.124 of 20, 3,000 rows.
    """

    def __init__(
        self,
        model: Any = None,
        *,
        calibration: ScoreTable | None = None,
        alpha: float = 0.05,
        by_segment: bool = False,
    ) -> None:
        self.alpha: float = _check.number(alpha, "alpha", low=0, strict=True)
        if self.alpha >= 1:
            _check.fail("alpha must be below 1", f"alpha={alpha!r}", "pass a share such as alpha=0.05")
        self.model: Model | None = None if model is None else model_of(model)
        if self.model is not None and not self.model.has_one_score:
            must = "the model must read one score of two classes to be watched"
            _check.fail(must, f"{self.model.map.columns} columns", "watch each class against the rest")
        if self.model is not None and has_steps(self.model):
            message = (
                "The model has steps, whose own errors are not allowed for: false alarms exceed alpha. Hint: watch a "
                "smooth map, such as that of AutoCalibrator or PlattCalibrator."
            )
            warnings.warn(message, StepMapWarning, stacklevel=2)
        self._by_segment = bool(by_segment)
        self._calibration = calibration
        self._checksum = None if self.model is None else _digest(self.model.to_json())
        self._n_batches = 0
        self._batches: dict[str, str] = {}
        self._tracks: dict[str | None, _Track] = {}
        #: Whatever a reader of a stream needs to go on, such as the offsets of Kafka's partitions.
        self.positions: dict[str, int] = {}
        self._saved: str | None = None

    def __repr__(self) -> str:
        method = "" if self.model is None else f"{self.model.method}, "
        return f"Monitor({method}alpha={self.alpha:g}, batches={self._n_batches})"

    def update(
        self,
        scores: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        segments: ArrayLike | None = None,
        batch: str | None = None,
        positions: Mapping[str, int] | None = None,
    ) -> Watch:
        """Count rows whose labels have arrived.

        Parameters
        ----------
        scores : array-like of shape (n,)
            Scores like those of the fit.
        y : array-like of shape (n,)
            Labels of the model, or 0 and 1.
        sample_weight : array-like of int of shape (n,), optional
            Counts.
        segments : array-like of shape (n,), optional
            The segment of each row, where the monitor is by segment.
        batch : str, optional
            Its name, by default its number. A batch of a name that was counted before is left out if it has the same
            rows, so that a reader may deliver it again, and else refused. The last 2,000 names are known.
        positions : mapping of str to int, optional
            Where the reader stands after the batch; kept in the state.

        Returns
        -------
        Watch
        """
        if (segments is not None) != self._by_segment:
            _check.fail(
                "segments must be given if and only if the monitor is by segment",
                f"by_segment={self._by_segment}",
                "pass one segment per row, or make Monitor(…, by_segment=True)",
            )
        s, labels = _check.as_scores(scores), _as_the_models(self.model, np.asarray(y))
        if segments is None:
            return self.update_table(_table(s, labels, sample_weight), batch=batch, positions=positions)
        names = np.asarray(segments)
        if names.shape != s.shape or labels.shape[:1] != s.shape:
            got = f"shapes {names.shape} and {labels.shape} for {len(s)} scores"
            _check.fail("segments and y must be as long as the scores", got, "pass one per score")
        weight = None if sample_weight is None else np.asarray(sample_weight)
        places = rows_by_segment(names)
        if None in places:
            got = f"{len(places[None])} of {len(s)} rows without one"
            _check.fail("every row must have a segment", got, "name a segment for those rows, or leave them out")
        tables = {
            str(name): _table(s[at], labels[at], None if weight is None else weight[at]) for name, at in places.items()
        }
        return self.update_table(tables, batch=batch, positions=positions)

    def update_table(
        self,
        table: ScoreTable | Mapping[str, ScoreTable],
        *,
        batch: str | None = None,
        positions: Mapping[str, int] | None = None,
    ) -> Watch:
        """Count the rows of a table of scores, or of one table for each segment; see `update`.

        Parameters
        ----------
        table : ScoreTable or mapping of key to ScoreTable
            Rows whose labels have arrived.
        batch : str, optional
            Its name; a batch that was counted before is left out.
        positions : mapping of str to int, optional
            Where the reader stands after the batch; kept in the state.

        Returns
        -------
        Watch
        """
        if isinstance(table, ScoreTable) == self._by_segment:
            _check.fail(
                "tables must come by segment if and only if the monitor is by segment",
                f"{type(table).__name__} with by_segment={self._by_segment}",
                "build tables with by=, or make Monitor(…, by_segment=True)",
            )
        parts: dict[str | None, ScoreTable] = (
            {None: table} if isinstance(table, ScoreTable) else dict(sorted(table.items()))
        )
        if not parts:
            _check.fail("a batch must have rows", "no table", "leave it out")
        for part in parts.values():
            self._refuse_unsuitable(part)
        content = _digest("\n".join(f"{name}={table_hash(part)}" for name, part in parts.items()))[:16]
        name = f"batch {self._n_batches + 1}" if batch is None else str(batch)
        if len(name) > _LONGEST_NAME:
            got = f"{len(name)} characters"
            _check.fail(f"a batch's name must have {_LONGEST_NAME} characters at most", got, "pass a shorter batch=")
        if batch is not None and self._is_counted(name, content):
            return self.result()
        forecasts = {segment: self._forecast(segment, part) for segment, part in parts.items()}
        first, *others = forecasts.values()
        counted = {None: first.merge(*others), **(forecasts if self._by_segment else {})}
        # Tracks are made before any is changed, so that a batch counts whole or not at all.
        tracks = dict(self._tracks)
        for segment in counted:
            if segment not in tracks:
                tracks[segment] = self._new_track(segment, counted[None], len(tracks))
        self._tracks = tracks
        for segment, forecast in counted.items():
            tracks[segment].add(forecast, name)
        for track in self._tracks.values():
            track.shorten(max(_MOST_BATCHES // len(self._tracks), 20))
        self._n_batches += 1
        self._batches[name] = content
        for old in list(self._batches)[:-_MOST_BATCHES]:
            del self._batches[old]
        self.positions.update(positions or {})
        return self.result()

    def result(self) -> Watch:
        """Return what the monitor finds now.

        Returns
        -------
        Watch
        """
        findings = tuple(track.finding(segment) for segment, track in self._tracks.items())
        return Watch(any(each.alarm for each in findings), self.alpha, self._n_batches, findings)

    def log(self, segment: str | None = None) -> tuple[Batch, ...]:
        """Return the batches of all rows or of a segment, in the order of their arrival.

        Parameters
        ----------
        segment : hashable
            The key of a segment.

        Returns
        -------
        tuple[Batch, ...]
        """
        if segment not in self._tracks:
            _check.fail("the segment must have rows", repr(segment), "name one that a batch had")
        return tuple(self._tracks[segment].log)

    def merge(self, *others: "Monitor") -> NoReturn:
        """Refuse to merge: evidence is a product in one order of arrival, which two monitors do not have.

        Let one monitor count all batches, or give each its own rows as a segment of one monitor.

        Parameters
        ----------
        *others : Monitor
            Other monitors.
        """
        got = f"{len(others) + 1} monitors"
        must = "one monitor must count all rows: evidence depends on the order of batches, so states do not merge"
        _check.fail(must, got, "let one monitor count all batches, or divide alpha among separate monitors")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a JSON file, whole or not at all.

        A file that exists is replaced if this monitor was loaded from it, or wrote it, and it was not changed since.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        content = {
            "alpha": self.alpha,
            "model": self._checksum,
            "by_segment": self._by_segment,
            "n_batches": self._n_batches,
            "batches": self._batches,
            "positions": self.positions,
            "tracks": [_track_content(segment, track) for segment, track in self._tracks.items()],
        }
        text = json.dumps(content)
        digest = _digest(text)
        if os.path.exists(path) and _read_state(path)[1] != self._saved:
            must = "the state must be the one that this monitor read or wrote last"
            _check.fail(must, f"another one in {os.fspath(path)}", "load it, and count the batch again")
        outer = f'{{"format": "{_FORMAT}", "checksum": "{digest}", "state": {text}}}\n'
        write_atomically(path, outer, force=True)
        self._saved = digest

    @staticmethod
    def load(path: str | os.PathLike[str], model: Any = None, *, calibration: ScoreTable | None = None) -> "Monitor":
        """Read the state that `save` wrote, of the same model.

        Parameters
        ----------
        path : path-like
        model : Model or fitted calibrator, optional
            The model that was watched. The state of another model is refused.
        calibration : ScoreTable, optional
            The rows of the fit, if the monitor was made with them.

        Returns
        -------
        Monitor
        """
        content, digest = _read_state(path)
        monitor = Monitor(model, calibration=calibration, alpha=content["alpha"], by_segment=content["by_segment"])
        if content["model"] != monitor._checksum:
            mine, theirs = (str(each)[:12] for each in (monitor._checksum, content["model"]))
            _check.fail(
                "the state must be of the same model: evidence against one is not evidence against another",
                f"{os.fspath(path)}, of a model with checksum {theirs}, not {mine}",
                "name the model that was watched, or begin a new state",
            )
        try:
            monitor._n_batches, monitor._batches = int(content["n_batches"]), dict(content["batches"])
            monitor.positions = dict(content["positions"])
            monitor._tracks = {each["segment"]: _read_track(each) for each in content["tracks"]}
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            _fail_state(os.fspath(path))
        monitor._saved = digest
        return monitor

    def _refuse_unsuitable(self, table: ScoreTable) -> None:
        if table.kind != "count":
            _check.fail(
                "labels must be counted to be watched: importance weights have no likelihood that bounds false alarms",
                f"{table!r}",
                "pass rows without weights, or whole numbers as counts",
            )
        if table.rows == 0:
            _check.fail("a batch must have rows", f"{table!r}", "leave it out")
        if self.model is None:
            low, high = table.span()
            if low < 0 or high > 1:
                got = f"values from {low:g} to {high:g}"
                _check.fail("without a model scores must be probabilities in [0, 1]", got, "pass the model")
            return
        refuse_other_labels(self.model, table)
        data = self.model.data
        if isinstance(data, DataSummary) and data.sha256 == table_hash(table):
            got = "the rows that the model was fitted to"
            _check.fail("a monitor needs rows that the fit did not see", got, "pass rows labeled since")

    def _is_counted(self, name: str, content: str) -> bool:
        known = self._batches.get(name)
        if known is not None and known != content:
            _check.fail(
                "a batch that was counted cannot change: its evidence is part of a product",
                f"other rows for batch {name!r}",
                "pass labels that arrived later as a batch of another name; begin a new state if labels were wrong",
            )
        return known is not None

    def _forecast(self, segment: str | None, table: ScoreTable) -> ScoreTable:
        """Return the table of log-odds."""
        if self.model is None:
            return table.map(logit)
        return table.map(readings(self.model.of_segment(segment)))

    def _new_track(self, segment: str | None, like: ScoreTable, place: int) -> _Track:
        """Return the track of a segment, which has its share of alpha by its place; rows look like a forecast."""
        alpha = self.alpha / ((place + 1) * (place + 2)) if self._by_segment else self.alpha
        own, fit = None if self.model is None else self.model.of_segment(segment), self._calibration
        summary = None if own is None or not isinstance(own.data, DataSummary) else own.data
        if own is not None and summary is None and fit is not None:
            summary = DataSummary.of(fit)
        if own is None or summary is None:
            # Exact probabilities, or a map of which nothing is known: lines turn where the first batch is expected.
            promised = float(like.total @ _probability(like.scores))
            return _Track(Evidence(math.log((promised + 1) / (float(like.total.sum()) - promised + 1))), alpha)
        share = summary.prevalence
        center = math.log(share / (1 - share)) if 0 < share < 1 else 0.0
        if fit is None:
            error = MapError.like(like.scores, like.total.astype(float), center, summary.rows, share)
        else:
            fitted = fit.map(readings(own))
            error = MapError.of(fitted.scores, fitted.total.astype(float), center)
        return _Track(Evidence(center, error), alpha)


def has_steps(model: Model) -> bool:
    """Return whether a map of a model has steps: bins, and isotonic regression whatever is between its steps."""
    found = [map_of(each.map) for each in (model.of_segment(None), *model.segments.values())]
    inner = [one.inner if isinstance(one, InputMap) else one for one in found]
    return any(isinstance(one, (LinearMap, StepMap)) and len(one.knots) > 2 for one in inner)


def refuse_other_labels(model: Model, table: ScoreTable) -> None:
    """Refuse a table whose labels are neither those of the model nor 0 and 1, or are the other way round."""
    for shown, own, other, plain in zip(table.labels, model.labels, model.labels[::-1], ((0, -1), (1,)), strict=True):
        if shown is not None and shown != own and (shown == other or shown not in plain):
            _fail_labels(model, shown)


def _as_the_models(model: Model | None, labels: NDArray[Any]) -> NDArray[Any]:
    """Return whether each label is the positive one of the model; labels of 0 and 1 as they are."""
    if model is None or labels.ndim != 1 or (labels.dtype.kind == "f" and np.isnan(labels).any()):
        return labels
    shown = set(labels.tolist())
    if shown <= set(model.labels):
        return np.asarray([each == model.labels[1] for each in labels.tolist()], bool)
    if not (shown <= {0, 1} or shown <= {-1, 1}):
        _fail_labels(model, next(each for each in labels.tolist() if each not in model.labels))
    return labels


def _table(scores: Floats, labels: NDArray[Any], weight: ArrayLike | None) -> ScoreTable:
    """Return the table of labels that are 0 and 1 by now."""
    return replace(ScoreTable.from_arrays(scores, labels, weight), labels=(None, None))


def _fail_labels(model: Model, label: Any) -> NoReturn:
    got = f"{label!r} for a model of {model.labels[0]!r} and {model.labels[1]!r}"
    hint = "check the column of labels, or pass whether each is positive as 0 and 1"
    _check.fail("labels must be those of the model", got, hint)


def _probability(log_odds: Floats) -> Floats:
    return np.asarray(np.exp(-np.logaddexp(0, -log_odds)))


def readings(model: Model) -> Callable[[Floats], Floats]:
    """Return the log-odds of a model, where P of 0 and 1 are read as what as many rows as those of the fit can show."""
    log_odds, data = map_of(model.map).log_odds, model.data
    if not isinstance(data, DataSummary):
        return log_odds
    most = math.log(2 * data.rows)

    def read(scores: Floats) -> Floats:
        found = log_odds(scores)
        return np.where(np.abs(found) < SUREST, found, np.copysign(most, found))

    return read


def _exp(value: float) -> float:
    return math.exp(min(value, 700.0))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _is_offset(belief: Floats) -> bool:
    """Whether an offset alone is at least as probable as lines that turn, each kind being as probable at first."""
    alone = ALTERNATIVES[:, 1] == 1
    return bool(belief[alone].sum() / PRIOR[alone].sum() >= belief[~alone].sum() / PRIOR[~alone].sum())


def _direction(is_offset: bool, offset: float, slope: float) -> str:
    """Name what the probabilities are."""
    if is_offset or abs(offset) > abs(math.log(slope)):
        return "too low" if offset > 0 else "too high"
    return "too extreme" if slope < 1 else "too timid"


def _read_state(path: str | os.PathLike[str]) -> tuple[dict[str, Any], str]:
    """Return the content of a state's file, and its checksum."""
    where = os.fspath(path)
    try:
        outer = json.loads(Path(path).read_text(encoding="utf-8"))
        content, digest = outer["state"], _digest(json.dumps(outer["state"]))
        is_whole = outer["format"] == _FORMAT and outer["checksum"] == digest and content.keys() == _KEYS
    except OSError as error:
        _check.fail("the state must be a readable file", f"{where}: {error.strerror}", "check the path")
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        is_whole = False
    if not is_whole:
        _fail_state(where)
    return content, digest


def _fail_state(where: str) -> NoReturn:
    _check.fail("the state must be a whole file that a monitor wrote", where, "restore it, or begin a new one")


def _track_content(segment: str | None, track: _Track) -> dict[str, Any]:
    evidence = track.evidence
    return {
        "segment": segment,
        "alpha": track.alpha,
        "largest": track.largest,
        "alarm_row": track.alarm_row,
        "center": evidence.center,
        "error": None if evidence.error is None else evidence.error.root.tolist(),
        "rows": evidence.rows,
        "grown": [None if math.isinf(each) else each for each in evidence.grown.tolist()],
        "surface": evidence.surface.tolist(),
        "null": evidence.null,
        "log": [astuple(each) for each in track.log],
    }


def _read_track(content: Mapping[str, Any]) -> _Track:
    error = None if content["error"] is None else MapError(np.array(content["error"]))
    grown = np.array([-np.inf if each is None else each for each in content["grown"]])
    evidence = Evidence(content["center"], error, content["rows"], grown, np.array(content["surface"]), content["null"])
    numbers = np.array([*evidence.surface, evidence.null, evidence.center, content["largest"], content["alpha"]], float)
    same = evidence.grown.shape == ALTERNATIVES[:, 0].shape and evidence.surface.shape == Evidence(0.0).surface.shape
    if not same or np.isnan(evidence.grown).any() or not np.isfinite(numbers).all():
        raise ValueError  # numbers of another shape, or that are not finite
    log = [replace(Batch(*each), ratios=tuple(each[6])) for each in content["log"]]
    return _Track(evidence, content["alpha"], log, content["largest"], content["alarm_row"])
