"""What a monitor finds, and what it remembers of each batch."""

from dataclasses import dataclass

from oddsmith.maps import Segment
from oddsmith.metrics import Result

__all__ = ["Batch", "Finding", "Watch"]

#: Digits of log-likelihood ratios in the log of batches, which only dates the loss.
RATIO_DIGITS = 3


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
        ratios = tuple(round(a + b, RATIO_DIGITS) for a, b in zip(self.ratios, later.ratios, strict=True))
        sums = (self.positives + later.positives, self.expected + later.expected)
        return Batch(later.name, self.first, later.last, *sums, self.before, ratios, later.evidence)


@dataclass(frozen=True, eq=False)
class Finding(Result):
    """Whether the probabilities of all rows, or of a segment, are still calibrated.

    Attributes
    ----------
    segment : str, tuple of str, or None
        None for all rows.
    target : str
        What is watched: empty for the positive of two classes; of several "decided class", whether the most probable
        class is the true one, or "class …", one against the rest.
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

    segment: Segment | None
    target: str
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
        of = "".join(f"{each}: " for each in (segment_text(self.segment), self.target) if each)
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
        Of all rows, then of each segment in the order in which they came, those of a batch by name; of several classes
        those of the decided class, then of each class.

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
        rest = len({each.segment for each in self.findings} - {None})
        more = f" {rest} segments." if rest and not self.alarm else ""
        return " ".join(map(str, shown)) + more


def segment_text(segment: Segment | None) -> str:
    """Return how a segment is shown; empty for all rows."""
    if segment is None:
        return ""
    return f"segment {segment if isinstance(segment, str) else ', '.join(map(str, segment))}"
