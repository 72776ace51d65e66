"""Maps from files give a probability for every finite score, or are refused."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_hostile_files import MAPS, refused, with_map

from oddsmith.errors import InvalidInputError, ModelFileError
from oddsmith.formula import evaluate
from oddsmith.model import Model
from samples import examples

MAX, TINY = 1.7976931348623157e308, 5e-324


@pytest.mark.parametrize(
    ("shape", "change"),
    [
        ("polynomial", {"scale": TINY}),
        ("polynomial", {"scale": 1e-300, "origins": [0.0, 1e9]}),
        ("polynomial", {"scale": 0.5, "origins": [-MAX, MAX]}),
        ("log_basis", {"scale": TINY, "centre": 1.0}),
        ("log_basis", {"scale": 1e-300, "centre": -1e9}),
        ("log_basis", {"slopes": [MAX, -MAX]}),
        ("cosine", {"coefficients": [MAX, -MAX, MAX]}),
        ("cosine", {"coefficients": [1e308] * 4}),
        ("soft_logit", {"softness": TINY}),
        ("unit_input", {"inner": MAPS["polynomial"] | {"scale": TINY}}),
        ("blend", {"parts": [MAPS["step"], MAPS["cosine"] | {"coefficients": [MAX, -MAX]}]}),
    ],
)
def test_numbers_that_give_none_together_are_refused(shape, change):
    assert "map" in refused(with_map(MAPS[shape] | change))


@pytest.mark.parametrize(
    ("shape", "change"),
    [
        ("polynomial", {"scale": 2.0**1020, "origins": [-MAX, MAX], "knots": [1e308]}),
        ("polynomial", {"scale": 2.0**-1000, "origins": [0.0, 1e-300], "knots": [1e-300]}),
        ("polynomial", {"coefficients": [[MAX, -MAX, MAX, -MAX], [-MAX] * 4]}),
        ("log_basis", {"scale": 2.0**-1000, "centre": 1e-300}),
        ("cosine", {"low": -MAX, "high": MAX}),
        ("linear", {"knots": [-MAX, MAX]}),
        ("logit_input", {"clip": 1e-20}),
        ("unit_input", {"clip": TINY}),
        ("unit_input", {"clip": 1e-17}),
    ],
)
def test_extremes_that_mean_something_load(shape, change):
    model = Model.from_json(with_map(MAPS[shape] | change))
    assert not np.isnan(model.map.probability([0.1, 0.9])).any()


NUMBERS = st.sampled_from([0.0, TINY, 1e-300, 1e-17, 0.5, 1.0, 3.0, 1e16, 1e150, 1e300, MAX]) | st.floats(0, MAX)
SIGNED = st.tuples(NUMBERS, st.sampled_from([-1.0, 1.0])).map(lambda pair: pair[0] * pair[1])
KNOTS = st.lists(SIGNED, min_size=1, max_size=3, unique=True).map(sorted)


@st.composite
def maps(draw, depth=0):
    """Maps of every shape whose numbers have any size."""
    shape = draw(st.sampled_from(sorted(MAPS) if depth < 2 else ["polynomial", "log_basis", "cosine", "step"]))
    knots = draw(KNOTS)
    many = lambda size, of=SIGNED: draw(st.lists(of, min_size=size, max_size=size))  # noqa: E731
    unit = st.floats(0, 1)
    content = {
        "polynomial": lambda: {
            "knots": knots,
            "origins": many(len(knots) + 1),
            "coefficients": [many(4) for _ in range(len(knots) + 1)],
            "scale": draw(NUMBERS),
        },
        "linear": lambda: {"knots": knots, "values": many(len(knots), unit)},
        "step": lambda: {"knots": knots, "at": many(len(knots), unit), "between": many(len(knots) + 1, unit)},
        "cosine": lambda: {"low": draw(SIGNED), "high": draw(SIGNED), "coefficients": many(4)},
        "log_basis": lambda: {
            "slopes": many(2),
            "intercept": draw(SIGNED),
            "centre": draw(SIGNED),
            "scale": draw(NUMBERS),
        },
        "logit_input": lambda: {"inner": draw(maps(depth + 1)), "clip": draw(st.none() | NUMBERS)},
        "unit_input": lambda: {"inner": draw(maps(depth + 1)), "clip": draw(NUMBERS)},
        "held_input": lambda: {
            "inner": draw(maps(depth + 1)),
            **dict(zip(("low", "high", "center"), many(3), strict=True)),
            "scale": draw(NUMBERS),
        },
        "soft_log_odds": lambda: {"inner": draw(maps(depth + 1)), "softness": draw(NUMBERS)},
        "soft_logit": lambda: {"inner": draw(maps(depth + 1)), "softness": draw(NUMBERS)},
        "adjusted": lambda: {"inner": draw(maps(depth + 1)), "slope": draw(SIGNED), "shift": draw(SIGNED)},
        "shifted": lambda: {"inner": draw(maps(depth + 1)), "shift": draw(SIGNED)},
        "blend": lambda: {"parts": [draw(maps(depth + 1)), draw(maps(depth + 1))], "weights": [0.25, 0.75]},
    }[shape]()
    return {"shape": shape, **content}


@given(maps(), st.lists(SIGNED, min_size=1, max_size=5))
@examples(600)
def test_no_finite_score_without_a_probability(content, scores):
    try:
        fitted = Model.from_json(with_map(content)).map
    except ModelFileError:
        return
    knots = content.get("knots", [])
    everywhere = np.array([*scores, *knots, 0.0, TINY, MAX, -MAX, 0.5, 1e-9])
    for tried in (everywhere, everywhere[(everywhere > 0) & (everywhere < 1)]):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                p, log_odds = fitted.probability(tried), fitted.log_odds(tried)
        except InvalidInputError:
            continue
        assert p.shape == log_odds.shape == tried.shape
        assert np.all((p >= 0) & (p <= 1))
        assert not np.isnan(log_odds).any()
        assert not np.isnan(evaluate(fitted.probability_formula(), tried)).any()
        assert not np.isnan(evaluate(fitted.log_odds_formula(), tried)).any()
