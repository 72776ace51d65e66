"""Every calibrator says the same in every engine, at every kind of score."""

import engines
import numpy as np
import pytest
from cases import EDGES, EXTREMES, every_case, largest

from oddsmith.export import to_c, to_javascript, to_onnx, to_python, to_sql
from oddsmith.formula import evaluate, with_limits
from optional import needs


def sql(dialect):
    needs("sqlglot")
    return [to_sql(case.fitted, dialect=dialect) for case in every_case()]


def evaluated(formula, scores):
    """Return the values of a formula, NaN of NaN: engines look for it before they compute."""
    return np.where(np.isnan(scores), np.nan, evaluate(with_limits(formula), scores))


def test_numpy():
    answers = (evaluated(case.fitted.probability_formula(), case.scores) for case in every_case())
    assert largest(every_case(), answers) <= 1e-13


def test_log_odds_in_numpy():
    for case in every_case():
        taken = ~np.isnan(case.expected)
        got = evaluated(case.fitted.log_odds_formula(), case.scores)
        np.testing.assert_array_equal(np.isnan(got), ~taken, err_msg=case.name)
        got, expected = got[taken], case.fitted.log_odds(case.scores[taken])
        # Near P = 1 the log-odds of a probability have few digits.
        np.testing.assert_allclose(np.clip(got, -30, 30), np.clip(expected, -30, 30), atol=1e-12, err_msg=case.name)


def test_duckdb(record_property):
    record_property("largest", largest(every_case(), engines.run_duckdb(every_case(), sql("duckdb"))))


def test_sqlite(record_property):
    record_property("largest", largest(every_case(), engines.run_sqlite(every_case(), sql("sqlite"))))


def test_postgres(postgres, record_property):
    record_property("largest", largest(every_case(), engines.run_postgres(postgres, every_case(), sql("postgres"))))


def test_spark(record_property):
    """One shape each: Spark is slow to plan."""
    chosen = ["huge cubic", "adjacent steps", "jumps", "widest cosine", "one-sided basis", "flat odds"]
    chosen += ["shifted blend", "shifted jumps"]
    texts = [to_sql(EDGES[label], dialect="spark") for label in chosen]
    sizes = [*EXTREMES, np.inf]
    scores = np.array(
        [sign * size for size in sizes for sign in (-1.0, 1.0)] + [0.1, 0.3, 0.1 + 0.2, 0.9, 1e-6, np.nan]
    )
    for label, got in zip(chosen, engines.run_spark(texts, scores), strict=True):
        fitted = EDGES[label]
        taken = (scores > 0) & (scores < 1) if label == "flat odds" else ~np.isnan(scores)
        assert [value is None for value in got] == (~taken).tolist(), label
        values = np.array(got, dtype=np.float64)[taken]
        np.testing.assert_allclose(values, fitted.probability(scores[taken]), atol=1e-12, rtol=0, err_msg=label)


def test_onnxruntime(record_property):
    needs("onnx")
    contents = (to_onnx(case.fitted) for case in every_case())
    record_property("largest", largest(every_case(), engines.run_onnx(every_case(), contents)))


@pytest.mark.parametrize(
    ("run", "write"),
    [(engines.run_python, to_python), (engines.run_node, to_javascript), (engines.run_c, to_c)],
    ids=["python", "node", "c"],
)
def test_code(tmp_path, record_property, run, write):
    texts = [write(case.fitted) for case in every_case()]
    record_property("largest", largest(every_case(), run(tmp_path, every_case(), texts)))
