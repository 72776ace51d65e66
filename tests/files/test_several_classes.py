"""Files with one column of scores per class: columns, labels, what rows mean, arrays, samples."""

import io
import json
import pickle
from dataclasses import replace

import duckdb
import numpy as np
import pytest

from oddsmith import TemperatureScaling
from oddsmith.errors import InvalidInputError
from oddsmith.files import (
    apply_model,
    choose_columns,
    choose_model_columns,
    open_scores,
    read_costs,
    read_rows,
)
from oddsmith.files import rows as row_reading
from oddsmith.model import Model

ROWS = [(0.7, 0.2, 0.1, "cat"), (0.1, 0.8, 0.1, "dog"), (0.25, 0.25, 0.5, "cow"), (0.5, 0.3, 0.2, "cat")]


def text(rows=ROWS, names=("p_cat", "p_dog", "p_cow"), label="label", separator=","):
    lines = [(*names, label), *rows]
    return "".join(separator.join(map(str, line)) + "\n" for line in lines)


def read(path, scores=("p_*",), classes=None, label=None, weight=None, labels=None, **options):
    with open_scores(path, labels) as file:
        columns = choose_columns(file, scores, label, weight, classes=classes)
        return read_rows(file, columns, **options)


def refused(path, match, *args, **options):
    with pytest.raises(InvalidInputError, match=match):
        read(path, *args, **options)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(text())
    return path


class TestColumns:
    @pytest.mark.parametrize(
        ("names", "scores", "classes"),
        [
            (("p_cat", "p_car", "p_cow"), ["p_*"], ("cat", "car", "cow")),
            (("p_cat", "p_car", "p_cow"), ["p_cat,p_car", "p_cow"], ("cat", "car", "cow")),
            (("p_cat", "p_car", "p_cow"), ["p_cow", "p_cat", "p_car"], ("cow", "cat", "car")),
            (("logit10", "logit2", "logit1"), ["logit*"], (10, 2, 1)),
            (("logit10", "logit2", "logit1"), ["logit10,logit2,logit1"], (10, 2, 1)),
            (("cat prob", "dog prob", "cow prob"), ["* prob"], ("cat", "dog", "cow")),
            (("a", "b", "c"), ["a,b,c"], ("a", "b", "c")),
            (("x,y", "x,z", "other"), ["x,y", "x,z"], ("y", "z")),
            (("p_1.0", "p_2.0", "q"), ["p_*"], (1, 2)),
            (("p_1", "p_2", "p_x"), ["p_[0-9]"], (1, 2)),
            (("π_é", "π_ü", "id"), ["π_*"], ("é", "ü")),
        ],
    )
    def test_the_part_that_varies_names_the_class(self, tmp_path, names, scores, classes):
        path = tmp_path / "a.csv"
        quoted = [f'"{name}"' for name in names]
        path.write_text(text([(1, 2, 3, 4)], quoted))
        with open_scores(path) as file:
            found = choose_columns(file, scores)
        assert found.classes == classes
        assert found.label == "label"

    def test_the_order_of_the_file_is_kept(self, path):
        with open_scores(path) as file:
            assert choose_columns(file, ["p_*"]).scores == ("p_cat", "p_dog", "p_cow")

    @pytest.mark.parametrize(
        ("scores", "options", "words"),
        [
            (["q_*"], {}, "scores must match columns of .*; got 'q_\\*'. Hint: choose among 'p_cat'"),
            (["p_cta,p_dog"], {}, "scores must name a column of .*; got 'p_cta'. Hint: did you mean 'p_cat'"),
            (["p_c*", "p_cat"][:1], {"classes": ["a"]}, "one per score column; got 1 for 2 columns"),
            (["p_d*"], {}, "two or more; got 'p_dog'"),
            ([], {}, "no score column recognized"),
            (["p_*"], {"classes": ["a", "b"]}, "one per score column; got 2 for 3 columns"),
            (["p_*"], {"classes": ["a", "b", "a"]}, "classes must differ; got 'a' twice"),
            (["p_*"], {"classes": ["1", "2", "1.0"]}, "classes must differ; got 1 twice"),
            (["p_*,label"], {"label": "label"}, "scores must match columns"),
            (["p_cat,p_dog,label"], {"label": "label"}, "must be different columns"),
        ],
    )
    def test_columns_that_do_not_fit_are_refused(self, path, scores, options, words):
        with open_scores(path) as file, pytest.raises(InvalidInputError, match=words):
            choose_columns(file, scores, **options)

    def test_a_pattern_does_not_take_the_label(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_text(text(label="p_true"))
        assert read(path, label="p_true").rows.labels == ("cat", "dog", "cow")


class TestRows:
    @pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.csv.gz", "a.jsonl.zst"])
    def test_every_format_has_the_same_rows(self, tmp_path, path, name):
        other = tmp_path / f"b{name}"
        if name == "a.tsv":
            other.write_text(text(separator="\t"))
        else:
            kind = "json" if "json" in name else name.split(".")[1]
            duckdb.sql(f"COPY (FROM '{path}') TO '{other}' (FORMAT {kind})")
        data = read(other)
        np.testing.assert_array_equal(data.rows.values, [row[:3] for row in ROWS])
        assert data.rows.truth.tolist() == [0, 1, 2, 0]
        assert data.rows.input == "probabilities"
        assert data.rows.column_names == ("p_cat", "p_dog", "p_cow")
        assert (data.total, data.unseen, data.dropped, data.sampled) == (4, (), None, False)

    def test_labels_as_numbers_are_numbers(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_text(text([(3, -1, 2, "1.0"), (0, 0, 5, "2"), (1, 0, 0, "0")], ("z_0", "z_1", "z_2")))
        data = read(path, ["z_*"])
        assert data.rows.labels == (0, 1, 2)
        assert data.rows.truth.tolist() == [1, 2, 0]
        assert data.rows.input == "logits"

    def test_labels_that_no_column_has(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_text(text([*ROWS, (0.5, 0.3, 0.2, "horse")]))
        refused(path, "must be one of the classes 'cat', 'dog', 'cow'; got 'horse' in 1 of 5 rows. Hint: name the cl")
        data = read(path, bad_rows="skip")
        assert data.rows.n_rows == data.total == 4
        assert "label has no score column: 1" in data.dropped.message
        refused(path, "'cat', 'cow', 'dog', 'horse' in 5 of 5 rows", classes=["0", "1", "2"], bad_rows="skip")

    def test_skipping_is_no_hint_where_it_leaves_no_row(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_text(text([(*row[:-1], "horse") for row in ROWS]))
        for policy in ("refuse", "skip"):
            refused(path, r"in 4 of 4 rows.*add their columns to scores= \(--scores\)\.$", bad_rows=policy)

    @pytest.mark.parametrize("odd", ["nan", "inf"])
    def test_classes_beside_numbers_may_be_called_what_is_no_number(self, tmp_path, odd):
        path = tmp_path / "a.csv"
        path.write_text(text([(0.2, 0.8, "1"), (0.7, 0.3, odd)], (f"p_{odd}", "p_1")))
        data = read(path)
        assert data.rows.truth.tolist() == [1, 0]
        assert data.rows.labels == (odd, "1")

    def test_missing_labels_leave_numbers_what_they_are(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_text(text([(0.2, 0.8, "1.0"), (0.7, 0.3, "nan")], ("p_0", "p_1")))
        refused(path, "must be one of the classes '0', '1'; got 'nan' in 1 of 2 rows")

    @pytest.mark.parametrize("times", [1, 4, 9])
    def test_rows_with_two_faults_are_left_out_once(self, tmp_path, times):
        """Neither do their probabilities sum to 1 nor has their label a column."""
        path = tmp_path / "a.csv"
        path.write_text(text([*ROWS, *[(0.7, 0.4, 0.1, "horse")] * times]))
        data = read(path, input="probabilities", bad_rows="skip")
        assert data.rows.n_rows == data.total == 4
        assert data.dropped.count == times
        assert "horse" not in data.dropped.message
        path.write_text(text([*ROWS, *[(0.7, 0.4, 0.1, "horse")] * times, (0.5, 0.3, 0.2, "horse")]))
        data = read(path, input="probabilities", bad_rows="skip")
        assert data.rows.n_rows == data.total == 4
        assert data.dropped.count == times + 1
        assert "label has no score column: 1" in data.dropped.message

    def test_columns_that_no_label_has_are_told(self, path):
        assert read(path, classes=["cat", "dog", "cow"]).unseen == ()
        path.write_text(text(ROWS[:2]))
        assert read(path).unseen == ("cow",)

    @pytest.mark.parametrize(
        ("bad", "words"),
        [
            ((0.7, "", 0.1, "cat"), "score is missing: 1; first line 6: score is missing in 'p_dog'"),
            ((0.7, "x", 0.1, "cat"), "score is not a number: 1; first line 6: score is not a number in 'p_dog': x"),
            ((0.7, "inf", 0.1, "cat"), "score is not finite: 1; first line 6: score is not finite in 'p_dog': inf"),
            ((0.7, "nan", 0.1, "cat"), "score is not finite"),
            ((0.7, 0.2, 0.1, ""), "label is missing: 1"),
            ((0.7, 0.4, 0.1, "cat"), "probabilities do not sum to 1: 1; first line 6: .* sum to 1: 1.2"),
            ((1.1, -0.2, 0.1, "cat"), "a probability is negative: 1"),
        ],
    )
    def test_bad_rows_are_refused_or_left_out(self, tmp_path, bad, words):
        path = tmp_path / "a.csv"
        path.write_text(text([*ROWS, bad]))
        refused(path, words, input="probabilities")
        data = read(path, input="probabilities", bad_rows="skip")
        assert data.rows.n_rows == 4
        assert data.dropped.count == 1
        np.testing.assert_array_equal(data.rows.values, [row[:3] for row in ROWS])

    def test_probabilities_that_do_not_sum_to_1_are_not_taken_for_logits(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_text(text([*ROWS, (0.7, 0.4, 0.1, "cat")]))
        refused(path, 'within \\[0, 1\\] must sum to 1 in every row.*; got 1 of 5 rows .*input="logits"')
        assert read(path, bad_rows="skip").rows.n_rows == 4
        assert read(path, input="logits").rows.input == "logits"

    def test_rounded_probabilities_are_divided_by_their_sum(self, tmp_path):
        path = tmp_path / "a.csv"
        path.write_text(text([(0.333, 0.333, 0.333, "cat"), (0.7, 0.2, 0.1, "dog"), (0.2, 0.3, 0.5, "cow")]))
        data = read(path)
        np.testing.assert_allclose(data.rows.values.sum(axis=1), 1, atol=1e-15)
        assert data.rows.values[1].tolist() == [0.7, 0.2, 0.1]
        assert data.largest_gap == pytest.approx(0.001)

    @pytest.mark.parametrize(("weights", "kind"), [((1, 0, 3, 2), "i"), ((0.5, 1, 2, 0), "f")])
    def test_weights(self, tmp_path, weights, kind):
        path = tmp_path / "a.csv"
        lines = text().splitlines()
        path.write_text("\n".join(f"{line},{w}" for line, w in zip(lines, ("w", *weights), strict=True)))
        found = read(path, weight="w").rows.weight
        assert found.tolist() == list(weights)
        assert found.dtype.kind == kind
        path.write_text(path.read_text().replace(f",{weights[2]}\n", ",-1\n"))
        refused(path, "weight is negative", weight="w")

    def test_a_sample_is_announced_and_repeatable(self, tmp_path):
        path = tmp_path / "a.parquet"
        query = (
            "SELECT i AS p_a, i + 1 AS p_b, CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END AS label FROM range(50000) t(i)"
        )
        duckdb.sql(f"COPY ({query}) TO '{path}' (ROW_GROUP_SIZE 5000)")
        first, again, other = (read(path, sample=500, random_state=seed) for seed in (3, 3, 4))
        assert (first.rows.n_rows, first.total, first.sampled) == (500, 50_000, True)
        np.testing.assert_array_equal(first.rows.values, again.rows.values)
        assert not np.array_equal(first.rows.values, other.rows.values)
        drawn = first.rows.values[:, 0]
        assert np.all(np.diff(drawn) > 0)
        assert 20_000 < drawn.mean() < 30_000
        np.testing.assert_array_equal(first.rows.truth, drawn % 2)
        assert not read(path).sampled

    def test_more_scores_than_fit_into_memory_are_sampled(self, path, monkeypatch):
        monkeypatch.setattr(row_reading, "MOST_VALUES", 6)
        data = read(path)
        assert (data.rows.n_rows, data.total) == (2, 4)


class TestArrays:
    @pytest.fixture
    def arrays(self):
        rng = np.random.default_rng(0)
        return rng.normal(size=(40, 3)) * 3, rng.integers(3, size=40)

    @pytest.mark.parametrize("kind", ["f8", "f4", "f2", ">f8", "i4"])
    def test_npz(self, tmp_path, arrays, kind):
        z, y = arrays[0].astype(kind), arrays[1]
        np.savez(tmp_path / "a.npz", logits=z, labels=y, names=np.array(["a", "b", "c"]), note=np.array(3))
        data = read(tmp_path / "a.npz", ())
        np.testing.assert_array_equal(data.rows.values, z.astype(float))
        np.testing.assert_array_equal(data.rows.truth, y)
        assert data.rows.labels == (0, 1, 2)
        assert data.rows.column_names == ("logits_0", "logits_1", "logits_2")

    def test_npy_with_labels_apart(self, tmp_path, arrays):
        np.save(tmp_path / "z.npy", np.asfortranarray(arrays[0]))
        np.save(tmp_path / "y.npy", np.array(["a", "b", "c"])[arrays[1]])
        data = read(tmp_path / "z.npy", (), classes=["a", "b", "c"], labels=tmp_path / "y.npy")
        np.testing.assert_array_equal(data.rows.values, arrays[0])
        np.testing.assert_array_equal(data.rows.truth, arrays[1])
        refused(tmp_path / "z.npy", "z.npy must come with labels; got scores alone.*--labels", ())

    def test_the_matrix_is_known_by_its_name(self, tmp_path, arrays):
        z, y = arrays
        np.savez(tmp_path / "a.npz", features=np.ones((40, 5)), probs=np.full((40, 4), 0.25), y=y[:, None])
        data = read(tmp_path / "a.npz", ())
        assert data.rows.values.shape == (40, 4)
        assert data.unseen == (3,)
        assert read(tmp_path / "a.npz", ["features_*"], input="logits").rows.values.shape == (40, 5)
        np.savez(tmp_path / "b.npz", one=z, two=z, y=y)
        refused(tmp_path / "b.npz", "no score column recognized", ())

    def test_probabilities_or_logits_of_the_same_file(self, tmp_path, arrays):
        np.savez(tmp_path / "a.npz", logits=arrays[0], labels=arrays[1], probabilities=np.full((40, 3), 1 / 3))
        with open_scores(tmp_path / "a.npz") as file:
            assert choose_columns(file).scores[0] == "logits_0"
            assert choose_columns(file, kind="probability").scores[0] == "probabilities_0"
            assert choose_columns(file, ["logits"]).scores == ("logits_0", "logits_1", "logits_2")

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (
                {"logits": np.zeros((4, 3)), "labels": np.zeros(5)},
                "'labels' must have one entry per row of 'logits'; got 5",
            ),
            ({"logits": np.zeros((2, 3, 4))}, "must contain arrays with rows|1 or 2 axes"),
            ({"logits": np.zeros((0, 3))}, "must contain arrays with rows"),
            ({"logits": np.zeros((4, 3), complex), "labels": np.zeros(4)}, "no score column recognized"),
            ({}, "must contain arrays with rows; got no array"),
        ],
    )
    def test_shapes_that_do_not_fit_are_refused(self, tmp_path, content, words):
        np.savez(tmp_path / "a.npz", **content)
        refused(tmp_path / "a.npz", words, ())

    def test_nan_in_an_array_is_a_bad_row(self, tmp_path, arrays):
        z, y = arrays
        z[7, 1] = np.nan
        np.savez(tmp_path / "a.npz", logits=z, labels=y)
        refused(tmp_path / "a.npz", "first row 8: score is (missing|not finite) in 'logits_1'", ())
        assert read(tmp_path / "a.npz", (), bad_rows="skip").rows.n_rows == 39

    def test_nothing_is_unpickled(self, tmp_path):
        class Harm:
            def __reduce__(self):
                return print, ("harm",)

        np.savez(tmp_path / "a.npz", logits=np.array([[Harm(), 1.0]], dtype=object))
        np.save(tmp_path / "a.npy", np.array([[Harm(), 1.0]], dtype=object))
        (tmp_path / "b.npz").write_bytes(pickle.dumps(Harm()))
        for name in ("a.npz", "a.npy"):
            refused(tmp_path / name, "objects, which only running code could read", ())
        with pytest.raises(InvalidInputError):
            read(tmp_path / "b.npz", ())

    def test_damaged_arrays_are_refused(self, tmp_path, arrays):
        held = io.BytesIO()
        np.savez_compressed(held, logits=arrays[0], labels=arrays[1])
        whole = held.getvalue()
        rng = np.random.default_rng(1)
        path = tmp_path / "a.npz"
        for trial in range(150):
            raw = bytearray(whole)
            for at in rng.integers(len(raw), size=rng.integers(1, 4)):
                raw[at] = rng.integers(256)
            path.write_bytes(raw[: rng.integers(4, len(raw))] if trial % 2 else raw)
            try:
                read(path, ())
            except InvalidInputError as error:
                assert "; got " in str(error)  # noqa: PT017

    def test_a_vector_is_a_score_of_two_classes(self, tmp_path, arrays):
        np.savez(tmp_path / "a.npz", score=arrays[0][:, 0], label=arrays[1] > 0)
        with open_scores(tmp_path / "a.npz") as file:
            assert file.columns == ("score", "label")
            assert file.matrix() == ()


class TestApplying:
    @pytest.fixture
    def model(self):
        rng = np.random.default_rng(0)
        y = np.arange(60) % 3
        z = rng.normal(size=(60, 3)) + 2 * np.eye(3)[y]
        fitted = TemperatureScaling().fit(z, np.array(["ant", "bee", "cat"])[y])
        return Model.from_fitted(fitted, column_names=("z_ant", "z_bee", "z_cat"))

    @pytest.fixture
    def new(self, tmp_path):
        values = np.round(np.random.default_rng(1).normal(size=(30, 3)) * 4, 3)
        lines = ["id,z_cat,z_bee,z_ant", *(f"{i},{c},{b},{a}" for i, (a, b, c) in enumerate(values.tolist()))]
        (tmp_path / "new.csv").write_text("\n".join(lines) + "\n")
        return tmp_path / "new.csv", values

    @pytest.mark.parametrize("scores", [(), ("z_*",), ("z_ant,z_bee,z_cat",)])
    @pytest.mark.parametrize(
        "name", ["out.csv", "out.tsv", "out.jsonl", "out.parquet", "out.csv.gz", "out.npz", "out.npy"]
    )
    def test_every_format_has_the_models_probabilities(self, tmp_path, model, new, scores, name):
        path, values = new
        with open_scores(path) as file:
            done = apply_model(model, file, choose_model_columns(file, model, scores), tmp_path / name)
        assert done.rows == 30
        expected, decision = model.predict_proba(values), model.predict(values)
        if name.startswith("out.np"):
            found = np.load(tmp_path / name)
            np.testing.assert_array_equal(found["probabilities"] if name == "out.npz" else found, expected)
            if name == "out.npz":
                np.testing.assert_array_equal(found["decision"], decision)
            return
        rows = duckdb.sql(f"FROM '{tmp_path / name}'").fetchnumpy()
        assert list(rows)[4:] == ["probability_ant", "probability_bee", "probability_cat", "decision"]
        assert rows["id"].tolist() == list(range(30))
        for i, label in enumerate(model.labels):
            np.testing.assert_allclose(rows[f"probability_{label}"].astype(float), expected[:, i], rtol=1e-15)
        assert rows["decision"].tolist() == decision.tolist()

    @pytest.mark.parametrize("name", ["out.parquet", "out.csv", "out.jsonl", "out.tsv.gz"])
    @pytest.mark.parametrize("bad", [False, True])
    def test_columns_with_types_stream_through_the_engine(self, tmp_path, model, new, name, bad):
        path, values = new
        hole = "CASE WHEN id = 4 THEN NULL ELSE z_bee END" if bad else "z_bee"
        others = "id + 1 AS ODDSMITH_score_0, [id] AS f0"
        rows = f"SELECT id, z_ant, CAST({hole} AS FLOAT) AS z_bee, z_cat, {others} FROM '{path}'"
        duckdb.sql(f"COPY ({rows}) TO '{tmp_path / 'new.parquet'}' (ROW_GROUP_SIZE 2048)")
        with open_scores(tmp_path / "new.parquet") as file:
            columns = choose_model_columns(file, model)
            if bad:
                with pytest.raises(InvalidInputError, match="score is missing in 'z_bee'"):
                    apply_model(model, file, columns, tmp_path / name)
                assert not (tmp_path / name).exists()
            done = apply_model(model, file, columns, tmp_path / name, bad_rows="skip")
        kept = np.arange(30) != 4 if bad else np.ones(30, bool)
        values = values.copy()
        values[:, 1] = values[:, 1].astype(np.float32)
        found = duckdb.sql(f"FROM '{tmp_path / name}'").fetchnumpy()
        assert done.rows == kept.sum()
        assert list(found)[4:] == [
            *("ODDSMITH_score_0", "f0", "probability_ant", "probability_bee", "probability_cat", "decision"),
        ]
        assert found["id"].tolist() == np.flatnonzero(kept).tolist()
        expected = model.predict_proba(values[kept])
        for i, label in enumerate(model.labels):
            np.testing.assert_allclose(found[f"probability_{label}"].astype(float), expected[:, i], rtol=0, atol=1e-12)
        assert found["decision"].tolist() == model.predict(values[kept]).tolist()

    def test_rounded_probabilities_are_the_same_by_both_ways(self, tmp_path):
        p, y = np.round(np.random.default_rng(0).dirichlet([1, 1, 1], 60), 2), np.arange(60) % 3
        fitted = TemperatureScaling(input="probabilities").fit(p / p.sum(axis=1, keepdims=True), y)
        model = Model.from_fitted(fitted, column_names=("p_0", "p_1", "p_2"))
        (tmp_path / "a.csv").write_text(text([(*row, "x") for row in p.tolist()], model.column_names))
        duckdb.sql(f"COPY (FROM '{tmp_path / 'a.csv'}') TO '{tmp_path / 'a.parquet'}'")
        for name in ("a.csv", "a.parquet"):
            with open_scores(tmp_path / name) as file:
                apply_model(model, file, choose_model_columns(file, model), tmp_path / f"out-{name}")
            found = duckdb.sql(
                f"SELECT probability_0, probability_1, probability_2 FROM '{tmp_path}/out-{name}'"
            ).fetchnumpy()
            expected = model.predict_proba(p / p.sum(axis=1, keepdims=True))
            np.testing.assert_allclose(np.column_stack(list(found.values())), expected, rtol=0, atol=1e-12)

    @pytest.mark.parametrize(
        ("labels", "decided"),
        [
            ((1, "x'); SELECT error('harm') --", "[1]"), "1"),
            ((1.5, 2.5, -3.0), 1.5),
            ((10**15, 2, 3), 10**15),
            (("a'b", 'a"b', "a\nb"), "a'b"),
            (("nan", "null", ""), "nan"),
        ],
    )
    @pytest.mark.parametrize("kind", ["csv", "parquet"])
    def test_labels_are_data(self, tmp_path, model, labels, decided, kind):
        model = replace(model, labels=labels)
        path = tmp_path / f"a.{kind}"
        duckdb.sql(f"COPY (SELECT 9.0 AS z_ant, 1.0 AS z_bee, 0.0 AS z_cat) TO '{path}'")
        with open_scores(path) as file:
            columns = choose_model_columns(file, model)
            if "" in labels:
                with pytest.raises(InvalidInputError, match="labels must not be empty"):
                    apply_model(model, file, columns, tmp_path / "out.parquet")
                return
            apply_model(model, file, columns, tmp_path / "out.parquet")
        found = duckdb.sql(f"FROM '{tmp_path / 'out.parquet'}'")
        assert found.columns[3:] == [*(f"probability_{label}" for label in labels), "decision"]
        assert found.fetchall()[0][-1] == decided

    def test_json_lines_keep_their_text(self, tmp_path, model):
        path = tmp_path / "a.jsonl"
        path.write_text('{"z_ant": 1.00, "z_bee": 2, "z_cat": 0, "note": "ü"}\n')
        with open_scores(path) as file:
            apply_model(model, file, choose_model_columns(file, model), tmp_path / "out.jsonl")
        written = (tmp_path / "out.jsonl").read_text()
        assert written.startswith('{"z_ant": 1.00, "z_bee": 2, "z_cat": 0, "note": "ü", "probability_ant": 0.')
        assert json.loads(written)["decision"] == "bee"

    def test_arrays_are_kept_beside_what_is_new(self, tmp_path, model):
        z = np.random.default_rng(2).normal(size=(20, 3))
        z[3, 0] = np.nan
        np.savez(tmp_path / "a.npz", logits=z, labels=np.arange(20), classes=np.array(["x"]))
        with open_scores(tmp_path / "a.npz") as file:
            columns = choose_model_columns(file, model)
            assert "taken in this order" in columns.message
            done = apply_model(model, file, columns, tmp_path / "out.npz", bad_rows="skip")
        found = np.load(tmp_path / "out.npz")
        kept = np.delete(z, 3, axis=0)
        assert done.rows == len(found["decision"]) == 19
        np.testing.assert_array_equal(found["logits"], kept)
        np.testing.assert_array_equal(found["labels"], np.delete(np.arange(20), 3))
        np.testing.assert_array_equal(found["probabilities"], model.predict_proba(kept))
        assert found["classes"].tolist() == ["x"]

    @pytest.mark.parametrize(
        ("header", "scores", "words"),
        [
            ("id,a,b,c", (), "must have the columns of the fit, 'z_ant', 'z_bee', 'z_cat'; got columns 'id'"),
            ("id,a,b,c", ("a,b",), "the model reads 3 columns; got 2: 'a', 'b'"),
            (
                "z_ant,z_bee,z_cat,Decision",
                (),
                "names of their own; got 'decision' for the decision and column 'Decision'",
            ),
            ("z_ant,z_bee,z_cat,probability_BEE", (), "names of their own; got 'probability_bee' for label 'bee'"),
        ],
    )
    def test_files_that_do_not_fit_are_refused(self, tmp_path, model, header, scores, words):
        (tmp_path / "a.csv").write_text(f"{header}\n1,2,3,4\n")
        with open_scores(tmp_path / "a.csv") as file, pytest.raises(InvalidInputError, match=words):
            apply_model(model, file, choose_model_columns(file, model, scores), tmp_path / "out.csv")
        assert not (tmp_path / "out.csv").exists()


class TestCosts:
    def written(self, tmp_path, content):
        (tmp_path / "costs.csv").write_text(content)
        return tmp_path / "costs.csv"

    def test_rows_and_columns_follow_the_classes(self, tmp_path):
        found = read_costs(self.written(tmp_path, "b,a,c\n0,1,2\n3,0,4\n5,6,0\n"), ["a", "b", "c"])
        assert found.matrix.tolist() == [[0, 3, 4], [1, 0, 2], [6, 5, 0]]
        assert found.decisions == ("a", "b", "c")

    def test_numbers_are_labels(self, tmp_path):
        assert read_costs(self.written(tmp_path, "1,0\n0,1\n2,0\n"), [0, 1]).matrix.tolist() == [[0, 2], [1, 0]]

    def test_a_class_may_be_called_nan(self, tmp_path):
        assert read_costs(self.written(tmp_path, "nan,1\n0,2\n1,0\n"), ["1", "nan"]).matrix.tolist() == [[0, 1], [2, 0]]

    def test_decisions_may_have_names_of_their_own(self, tmp_path):
        found = read_costs(self.written(tmp_path, ",a,b\nwait,1,2\ngo,3,4\nask,5,6\n"), ["a", "b"])
        assert found.matrix.shape == (3, 2)
        assert found.decisions == ("wait", "go", "ask")

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            ("", "must have a header"),
            ("a,b\n", "must have a header"),
            ("a,b\n0,1\n", "a line of costs for each decision"),
            ("a,b\n0,1\n1\n", "2 lines of 1 or 2 for 2 columns"),
            ("a,x\n0,1\n1,0\n", "must have the columns 'a', 'b'; got columns 'a', 'x'"),
            ("a,b\n0,1\nx,0\n", "must be numbers; got 'x'"),
            ("a,b\n0,1_0\n1,0\n", "must be numbers; got '1_0'"),
            ("a,b\n0,inf\n1,0\n", "must be finite"),
            ("decision,a,b\nx,0,1\nx,1,0\n", "must differ; got 'x', 'x'"),
        ],
    )
    def test_costs_that_do_not_fit_are_refused(self, tmp_path, content, words):
        with pytest.raises(InvalidInputError, match=words):
            read_costs(self.written(tmp_path, content), ["a", "b"])


def test_decimal_commas_are_recognized(path):
    path.write_text(text([("0,7", "0,2", "0,1", "cat")], separator=";"))
    refused(path, 'pass text=TextFormat.decimal=","')


def test_masked_logits_are_read_and_rows_without_a_class_are_not(tmp_path):
    lines = ["a,b,c,label", "2.5,-inf,0.1,a", "-1.0,3.0,-Infinity,b", "0.0,1.0,4.0,c", "-inf,-inf,-inf,a"]
    path = tmp_path / "logits.csv"
    path.write_text("\n".join(lines) + "\n")
    with open_scores(path) as file:
        columns = choose_columns(file, ["a", "b", "c"], label="label")
        with pytest.raises(InvalidInputError, match="all classes are masked by -inf"):
            read_rows(file, columns)
        data = read_rows(file, columns, bad_rows="skip")
    assert data.rows.input == "logits"
    assert np.isneginf(data.rows.values).tolist() == [[False, True, False], [False, False, True], [False] * 3]
