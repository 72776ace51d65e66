"""Engines are found in one list, to which others can be added from outside."""

import numpy as np

from oddsmith import SquashCalibrator
from oddsmith.frames import apply
from oddsmith.frames.engines import ENGINES, FrameEngine, register_engine
from optional import needs

FITTED = SquashCalibrator().fit([-1.0, 1.0], [0, 1])


class Batches(FrameEngine):
    """Lazy frames of Polars, computed by NumPy a batch of rows at a time."""

    def takes(self, frame):
        import polars

        return isinstance(frame.to_native(), polars.LazyFrame)

    def with_probability(self, rows, maps, name):
        if maps.by is not None:
            return super().with_probability(rows, maps, name)
        import polars

        def probability(batch):
            scores = batch.cast(polars.Float64).to_numpy()
            known = ~np.isnan(scores)  # a missing score, null or NaN, has no probability
            prob = np.full(len(scores), np.nan)
            prob[known] = maps.probability(scores[known], None)
            return polars.Series(prob).fill_nan(None)

        score = polars.col(rows.score).map_batches(probability, return_dtype=polars.Float64)
        return rows.frame.to_native().with_columns(score.alias(name))


def test_an_engine_from_outside_is_asked_first(monkeypatch):
    polars = needs("polars")
    frame = polars.LazyFrame({"s": [-2.0, None, 0.0, float("nan"), 3.0, float("inf")]})
    monkeypatch.setattr("oddsmith.frames.engines.ENGINES", list(ENGINES))
    before = apply(frame, FITTED, "s").collect()["probability"]
    register_engine(Batches())
    asked = []
    compute = Batches.with_probability
    monkeypatch.setattr(Batches, "with_probability", lambda *given: asked.append(1) or compute(*given))
    after = apply(frame, FITTED, "s").collect()["probability"]
    assert asked == [1]
    assert after.is_null().to_list() == before.is_null().to_list() == [False, True, False, True, False, False]
    np.testing.assert_allclose(after.drop_nulls(), before.drop_nulls(), rtol=0, atol=1e-12)
