"""Frames in memory (pandas, Polars, PyArrow): NumPy computes, to the last bit what `predict_proba` says."""

from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from oddsmith.frames.engines.base import Frame, FrameEngine, SentColumn

if TYPE_CHECKING:
    from oddsmith.frames.plans import JointPlan
    from oddsmith.frames.scored_frame import ScoredFrame
    from oddsmith.frames.segments import Maps


class ArrowMemory(FrameEngine):
    """pandas, PyArrow and whatever is like them."""

    holds_arrow = True

    def takes(self, frame: Frame) -> bool:
        """Whether rows are in memory."""
        return isinstance(frame, nw.DataFrame)

    def with_probability(self, rows: "ScoredFrame", maps: "Maps", name: str) -> Any:
        """Return the native frame with the probability of each row."""
        frame = rows.frame
        wanted = {"score": rows.as_double(rows.score)} | ({} if not maps.by else {"segment": rows.segment()})
        sent = self.answer(frame, lambda asked: asked.select(**wanted))
        scores, missing = sent["score"]
        keys = _keys(sent["segment"])[~missing] if maps.by else None
        prob = np.full(len(scores), np.nan)
        prob[~missing] = maps.probability(scores[~missing], keys)
        added = nw.new_series(name, prob, nw.Float64, backend=frame.implementation)
        value = nw.col(name)
        return frame.with_columns(added).with_columns(nw.when(~value.is_nan()).then(value).alias(name)).to_native()

    def with_probabilities(self, rows: "ScoredFrame", plan: "JointPlan") -> Any:
        """Return the native frame with the probabilities of several classes and the decision."""
        wanted = {f"score{place}": rows.as_double(name) for place, name in enumerate(plan.columns)}
        wanted |= {"segment": rows.segment()} if rows.by else {}
        sent = self.answer(rows.frame, lambda asked: asked.select(**wanted))
        keys = _keys(sent.pop("segment")) if rows.by else None
        scores = np.column_stack([np.where(missing, np.nan, values) for values, missing in sent.values()])
        prob = plan.probability(scores, keys)
        missing = np.isnan(prob).any(axis=1)
        kind = {str: nw.String, bool: nw.Boolean, int: nw.Int64, float: nw.Float64}[type(plan.labels[0])]
        columns: dict[str, tuple[NDArray[Any], Any]] = {
            name: (values, nw.Float64) for name, values in zip(plan.probs, prob.T, strict=True)
        }
        columns[plan.decision] = np.asarray(plan.labels)[np.nan_to_num(prob).argmax(axis=1)], kind
        made = [
            nw.new_series(name, values, dtype, backend=rows.frame.implementation)
            for name, (values, dtype) in columns.items()
        ]
        frame = rows.frame.with_columns(*made)
        if missing.any():
            absent = nw.new_series(f"{rows.spare}_absent", missing, nw.Boolean, backend=frame.implementation)
            there = ~nw.col(absent.name)
            frame = frame.with_columns(absent)
            frame = frame.with_columns(*(nw.when(there).then(nw.col(name)).alias(name) for name in columns))
            frame = frame.drop(absent.name)
        return frame.to_native()


def _keys(segment: SentColumn) -> NDArray[np.object_]:
    """Return the name of the segment of each row, None where there is none."""
    keys = segment.values.astype(object)
    keys[segment.missing] = None
    return keys
