"""The monitor: labels as they arrive, and whether the probabilities are still calibrated."""

import hashlib
import json
import math
import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from oddsmith import _check
from oddsmith.atomic import write_atomically
from oddsmith.data import ScoreRows, ScoreTable
from oddsmith.errors import StepMapWarning
from oddsmith.maps import Segment, logit
from oddsmith.model import ClassCounts, DataSummary, Model, model_of, table_hash
from oddsmith.monitor.evidence import Evidence, MapError, StepErrors
from oddsmith.monitor.findings import Batch, Watch
from oddsmith.monitor.forecasts import (
    DECIDED,
    class_forecasts,
    has_steps,
    positive_labels,
    readings,
    refuse_other_labels,
    rows_of_classes,
    segments_of,
    steps_of,
)
from oddsmith.monitor.tracks import Track, probability

__all__ = ["Monitor"]

_FORMAT = "oddsmith monitor"

#: Batches that a state remembers one by one, over all segments; older ones are joined in pairs.
_MOST_BATCHES = 2000

#: Characters of a batch's name.
_LONGEST_NAME = 100

#: What a state's file has.
_KEYS = {"alpha", "model", "by_segment", "n_batches", "batches", "positions", "tracks"}

#: What is watched: a segment or all rows, and of several classes the decided one or each of them.
_Key = tuple[Segment | None, str]


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
    rows of the fit. Where the map has steps, each may have an error of its own instead, from its rows of the fit. P of
    exactly 0 or 1, from n rows, is read as 1/(2n + 1) or its complement. Not allowed for: other local errors, such as
    those of centered isotonic regression and of steps by segment (`StepMapWarning`), and a method that does not suit
    the scores.

    Several classes are watched by binary streams: whether the decided class is the true one as often as its probability
    says, with half of alpha, and each of k classes against the rest, with alpha/(2k). Of two columns only the positive
    class is watched.

    Segments have evidence of their own. The probability of any false alarm in the whole run stays at most alpha: all
    rows have alpha/2, and the k-th segment to appear alpha/((k + 1)(k + 2)) (Bonferroni, of e-values).

    Parameters
    ----------
    model : Model, fitted calibrator, CalibrationMap or None
        None: scores are probabilities of two classes, and exact.
    calibration : ScoreTable, or ScoreRows of several columns, optional
        The rows of the fit, scores and labels. Without it the error of the map is that of a fit to the same number of
        rows, with scores as in the first batch, which must have 20 rows; a map alone, without the number of rows of its
        fit, is taken as exact. A pooled model of a segment is taken to be as exact as a fit to the segment's rows.
    alpha : float, default 0.05
        Probability of a false alarm.
    by_segment : bool, default False
        Whether batches come by segment, as they must for a model by segments.

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
    No alarm: evidence 0.244 of 20, 3,000 rows.
    """

    def __init__(
        self,
        model: Any = None,
        *,
        calibration: ScoreTable | ScoreRows | None = None,
        alpha: float = 0.05,
        by_segment: bool = False,
    ) -> None:
        self.alpha: float = _check.number(alpha, "alpha", low=0, strict=True)
        if self.alpha >= 1:
            _check.fail("alpha must be below 1", f"alpha={alpha!r}", "pass a share such as alpha=0.05")
        self.model: Model | None = None if model is None else model_of(model)
        if self.model is not None and self.model.by is not None and not by_segment:
            must = "a model by segments must be watched by segment"
            _check.fail(must, f"a model by {self.model.by}", "pass by_segment=True, or model.of_segment(name)")
        if self.model is not None and has_steps(self.model) and (self.model.by or steps_of(self.model) is None):
            message = (
                "The model has steps whose own errors are not allowed for: false alarms exceed alpha. Hint: watch a "
                "smooth map, such as that of AutoCalibrator or PlattCalibrator, or one map with constant steps."
            )
            warnings.warn(message, StepMapWarning, stacklevel=2)
        if self.model is not None and calibration is not None:
            expected = ScoreTable if self.model.has_one_score else ScoreRows
            if not isinstance(calibration, expected):
                must = f"calibration rows of this model must be {expected.__name__}"
                _check.fail(must, type(calibration).__name__, "pass the rows of the fit")
        self._by_segment = bool(by_segment)
        self._calibration = calibration
        self._checksum = None if self.model is None else _digest(self.model.to_json())
        self._n_batches = 0
        self._batches: dict[str, str] = {}
        self._tracks: dict[_Key, Track] = {}
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
        scores : array-like of shape (n,), or (n, columns) of several classes
            Scores like those of the fit.
        y : array-like of shape (n,)
            Labels of the model, or 0 and 1.
        sample_weight : array-like of int of shape (n,), optional
            Counts.
        segments : array-like of shape (n,) or (n, columns), optional
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
        several = self.model is not None and not self.model.has_one_score
        values = np.asarray(scores) if several else _check.as_scores(scores)
        labels = np.asarray(y)
        weight = None if sample_weight is None else np.asarray(sample_weight)
        if not several:
            labels = positive_labels(self.model, labels)
        if segments is not None and labels.shape[:1] != values.shape[:1]:
            got = f"shape {labels.shape} for {len(values)} rows"
            _check.fail("segments and y must be as long as the scores", got, "pass one per score")

        def rows(at: Any) -> ScoreTable | ScoreRows:
            own = None if weight is None else weight[at]
            if self.model is not None and several:
                return rows_of_classes(self.model, values[at], labels[at], own)
            # Labels are 0 and 1 by now.
            return replace(ScoreTable.from_arrays(values[at], labels[at], own), labels=(None, None))

        if segments is None:
            return self.update_table(rows(...), batch=batch, positions=positions)
        columns = 1 if self.model is None else max(len(self.model.segment_columns), 1)
        places = segments_of(np.asarray(segments, None if columns == 1 else object), len(values), columns)
        tables = {name: rows(at) for name, at in places.items()}
        return self.update_table(tables, batch=batch, positions=positions)

    def update_table(
        self,
        table: ScoreTable | ScoreRows | Mapping[Any, ScoreTable | ScoreRows],
        *,
        batch: str | None = None,
        positions: Mapping[str, int] | None = None,
    ) -> Watch:
        """Count the rows of a table of scores, or of one table for each segment; see `update`.

        Parameters
        ----------
        table : ScoreTable, ScoreRows of several classes, or mapping of key to one of them
            Rows whose labels have arrived.
        batch : str, optional
            Its name; a batch that was counted before is left out.
        positions : mapping of str to int, optional
            Where the reader stands after the batch; kept in the state.

        Returns
        -------
        Watch
        """
        if isinstance(table, Mapping) != self._by_segment:
            _check.fail(
                "tables must come by segment if and only if the monitor is by segment",
                f"{type(table).__name__} with by_segment={self._by_segment}",
                "build tables with by=, or make Monitor(…, by_segment=True)",
            )
        parts: dict[Any, Any] = dict(sorted(table.items())) if isinstance(table, Mapping) else {None: table}
        if not parts:
            _check.fail("a batch must have rows", "no table", "leave it out")
        forecasts: dict[_Key, ScoreTable] = {}
        for segment, part in parts.items():
            self._refuse_unsuitable(part)
            forecasts |= {(segment, target): each for target, each in self._forecasts(segment, part).items()}
        self._refuse_rows_of_fit(list(parts.values()))
        content = _digest("\n".join(f"{key}={table_hash(each)}" for key, each in forecasts.items()))[:16]
        name = f"batch {self._n_batches + 1}" if batch is None else str(batch)
        if len(name) > _LONGEST_NAME:
            got = f"{len(name)} characters"
            _check.fail(f"a batch's name must have {_LONGEST_NAME} characters at most", got, "pass a shorter batch=")
        if batch is not None and self._is_counted(name, content):
            return self.result()
        counted: dict[_Key, ScoreTable] = {}
        for (_, target), each in forecasts.items():
            whole = counted.get((None, target))
            counted[None, target] = each if whole is None else whole.merge(each)
        counted |= forecasts
        # Tracks are made before any is changed, so that a batch counts whole or not at all.
        tracks = dict(self._tracks)
        for key, forecast in counted.items():
            if key not in tracks:
                places = list(dict.fromkeys(segment for segment, _ in (*tracks, key)))
                tracks[key] = self._new_track(key, counted[None, key[1]], forecast, places.index(key[0]))
        self._tracks = tracks
        for key, forecast in counted.items():
            tracks[key].add(forecast, name)
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
        findings = tuple(track.finding(*key) for key, track in self._tracks.items())
        return Watch(any(each.alarm for each in findings), self.alpha, self._n_batches, findings)

    def log(self, segment: Segment | None = None, target: str | None = None) -> tuple[Batch, ...]:
        """Return the batches of all rows or of a segment, in the order of their arrival.

        Parameters
        ----------
        segment : str or tuple of str, optional
            The key of a segment; by default all rows.
        target : str, optional
            As in `Finding`; by default the positive class, of several the decided one.

        Returns
        -------
        tuple of Batch
        """
        several = self.model is not None and len(self.model.labels) > 2
        key = (segment, target if target is not None else DECIDED if several else "")
        if key not in self._tracks:
            _check.fail("the segment must have rows", repr(segment), "name one that a batch had")
        return tuple(self._tracks[key].log)

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
            "tracks": [{"key": key, **track.to_dict()} for key, track in self._tracks.items()],
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
    def load(
        path: str | os.PathLike[str], model: Any = None, *, calibration: ScoreTable | ScoreRows | None = None
    ) -> "Monitor":
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
            monitor._tracks = {_read_key(each["key"]): Track.from_dict(each) for each in content["tracks"]}
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            _fail_state(os.fspath(path))
        monitor._saved = digest
        return monitor

    def _refuse_unsuitable(self, table: ScoreTable | ScoreRows) -> None:
        two = self.model is None or self.model.has_one_score
        if not isinstance(table, ScoreTable if two else ScoreRows):
            must = f"rows must be {'a ScoreTable' if two else 'ScoreRows, with one column for each class'}"
            _check.fail(must, type(table).__name__, "pass rows like those of the fit")
        if table.kind != "count":
            _check.fail(
                "labels must be counted to be watched: importance weights have no likelihood that bounds false alarms",
                f"{table!r}",
                "pass rows without weights, or whole numbers as counts",
            )
        if isinstance(table, ScoreRows):
            if not table.n_rows:
                _check.fail("a batch must have rows", f"{table!r}", "leave it out")
            if self.model is not None and tuple(map(str, table.labels)) != tuple(map(str, self.model.labels)):
                got = f"{table.labels!r} for a model of {self.model.labels!r}"
                _check.fail("labels must be those of the model, in its order", got, "name the columns of the fit")
            return
        if table.rows == 0:
            _check.fail("a batch must have rows", f"{table!r}", "leave it out")
        if self.model is None:
            low, high = table.span()
            if low < 0 or high > 1:
                got = f"values from {low:g} to {high:g}"
                _check.fail("without a model scores must be probabilities in [0, 1]", got, "pass the model")
            return
        refuse_other_labels(self.model, table)

    def _refuse_rows_of_fit(self, parts: list[Any]) -> None:
        data = None if self.model is None else self.model.data
        if isinstance(data, DataSummary):
            first, *others = parts
            if data.sha256 in {table_hash(each) for each in (*parts, first.merge(*others))}:
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

    def _forecasts(self, segment: Segment | None, rows: Any) -> Mapping[str, ScoreTable]:
        """Return a table of log-odds for each thing that is watched."""
        if self.model is None:
            return {"": rows.map(logit)}
        own = self.model.of_segment(segment)
        return {"": rows.map(readings(own))} if own.has_one_score else class_forecasts(own, rows)

    def _new_track(self, key: _Key, like: ScoreTable, part: ScoreTable, place: int) -> Track:
        """Return the track of a segment by its place, and of what is watched in it.

        All rows look like the forecast ``like``, and those of the segment like ``part``.
        """
        segment, target = key
        alpha = self.alpha / ((place + 1) * (place + 2)) if self._by_segment else self.alpha
        own, fit = None if self.model is None else self.model.of_segment(segment), self._calibration
        data = None if own is None else own.data
        if own is not None and data is None and isinstance(fit, ScoreTable):
            data = DataSummary.of(fit)
        if own is not None and target:
            alpha /= 2 if target == DECIDED else 2 * len(own.labels)
        promised, total = float(like.total @ probability(like.scores)), like.total.astype(float)
        share = (promised + 1) / (float(total.sum()) + 2)
        if own is None or (data is None and fit is None):
            # Exact probabilities, or a map of which nothing is known: lines turn where the first batch is expected.
            return Track(Evidence(math.log(share / (1 - share))), alpha)
        if isinstance(data, DataSummary) and 0 < data.prevalence < 1:
            share = data.prevalence
        if isinstance(data, ClassCounts) and target != DECIDED:
            counts = dict(zip(("class " + str(label) for label in own.labels), data.weights, strict=True))
            share = (counts.get(target, data.weights[-1]) + 1) / (sum(data.weights) + 2)
        center = math.log(share / (1 - share))
        rows = None if data is None or (fit is not None and segment is None) else float(data.rows)
        if rows is not None and segment is not None and self.model is not None and self.model.effects is not None:
            # A pooled map of a segment is at least as exact as one that was fitted to the rows of the segment alone.
            rows *= part.rows / like.rows
        if fit is None:
            assert rows is not None  # the rows of the fit are known by their number, or as rows
            scores, error = like.scores, MapError.like(like.scores, total, center, rows, share)
        else:
            fitted = self._forecasts(segment, fit)[target]
            scores, total = fitted.scores, fitted.total.astype(float)
            error = MapError.of(scores, total, center, rows)
        steps = steps_of(own)
        own_steps = None if steps is None else StepErrors.of(steps, scores, total, rows)
        return Track(Evidence(center, error, steps=own_steps), alpha)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


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


def _read_key(content: Any) -> _Key:
    """Return what a track is of."""
    segment, target = content
    known = segment is None or isinstance(segment, str) or (isinstance(segment, list) and all(map(str, segment)))
    if not known or not isinstance(target, str):
        raise ValueError
    return tuple(segment) if isinstance(segment, list) else segment, target
