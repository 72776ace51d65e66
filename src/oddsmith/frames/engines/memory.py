"""Frames in memory (pandas, Polars, PyArrow): NumPy computes, to the last bit what `predict_proba` says."""

from typing import TYPE_CHECKING, Any

import numpy as np

from oddsmith.frames.engines.base import Frame, FrameEngine

if TYPE_CHECKING:
    from oddsmith.frames.scored_frame import ScoredFrame
    from oddsmith.frames.segments import Maps


class ArrowMemory(FrameEngine):
    """pandas, PyArrow and whatever is like them."""

    holds_arrow = True

    def takes(self, frame: Frame) -> bool:
        """Whether rows are in memory."""
        import narwhals.stable.v2 as nw

        return isinstance(frame, nw.DataFrame)

    def with_probability(self, rows: "ScoredFrame", maps: "Maps", name: str) -> Any:
        """Return the native frame with the probability of each row."""
        import narwhals.stable.v2 as nw

        frame = rows.frame
        wanted = {"score": rows.as_double(rows.score)} | ({} if maps.by is None else {"segment": rows.segment()})
        sent = self.answer(frame, lambda asked: asked.select(**wanted))
        scores, missing = sent["score"]
        keys = None
        if maps.by is not None:
            keys = sent["segment"].values.astype(object)
            keys[sent["segment"].missing] = None
            keys = keys[~missing]
        prob = np.full(len(scores), np.nan)
        prob[~missing] = maps.probability(scores[~missing], keys)
        added = nw.new_series(name, prob, nw.Float64, backend=frame.implementation)
        value = nw.col(name)
        return frame.with_columns(added).with_columns(nw.when(~value.is_nan()).then(value).alias(name)).to_native()
