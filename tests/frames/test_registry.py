"""Engines are found in one list, to which others can be added from outside."""

import numpy as np

from oddsmith import SquashCalibrator
from oddsmith.frames import apply
from oddsmith.frames.engines import ENGINES, FrameEngine, register
from optional import needs

FITTED = SquashCalibrator().fit([-1.0, 1.0], [0, 1])


class Halving(FrameEngine):
    """An engine for lazy frames of Polars that is easy to tell from all others."""

    def takes(self, frame):
        return isinstance(frame.to_native(), needs("polars").LazyFrame)

    def with_probability(self, rows, maps, name):
        polars = needs("polars")
        return super().with_probability(rows, maps, name).with_columns(polars.col(name) / 2)


def test_an_engine_from_outside_is_asked_first(monkeypatch):
    polars = needs("polars")
    frame = polars.DataFrame({"s": [-2.0, 0.0, 3.0]})
    monkeypatch.setattr("oddsmith.frames.engines.ENGINES", list(ENGINES))
    before = apply(frame.lazy(), FITTED, "s").collect()["probability"].to_numpy()
    register(Halving())
    np.testing.assert_array_equal(apply(frame.lazy(), FITTED, "s").collect()["probability"].to_numpy(), before / 2)
