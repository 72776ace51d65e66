"""The estimator around every calibrator: outputs of scikit-learn's kind, routing, and what a fit says about itself."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from oddsmith import (
    AsymmetricLaplaceCalibrator,
    Calibrator,
    GaussianCalibrator,
    LogisticCalibrator,
    PiecewiseLogisticCalibrator,
    PlattCalibrator,
    ScoreTable,
)
from oddsmith.calibrators import Fitted
from oddsmith.data import LabeledScores
from oddsmith.errors import (
    InvalidInputError,
    NegativeSlopeWarning,
    PredictedLabelWarning,
    QuantizedSelectionWarning,
    SeparableWarning,
    SingleClassWarning,
    SpikeWarning,
)
from oddsmith.maps import line_map

RNG = np.random.default_rng(0)
S = RNG.normal(size=200)
Y = (RNG.random(200) < 1 / (1 + np.exp(-S))).astype(int)


def test_unfitted_calibrators_say_so():
    for ask in (PlattCalibrator().predict_proba, PlattCalibrator().predict, PlattCalibrator().log_odds):
        with pytest.raises(NotFittedError):
            ask([0.0])


def test_set_output_names_the_column():
    column = PlattCalibrator().set_output(transform="pandas").fit(S, Y).transform(pd.DataFrame({"s": S}))
    assert list(column.columns) == ["plattcalibrator0"]
    np.testing.assert_allclose(column.iloc[:, 0], PlattCalibrator().fit(S, Y).predict_proba(S)[:, 1])


def test_in_pipelines_and_searches():
    pipeline = make_pipeline(StandardScaler(), LogisticCalibrator()).fit(S[:, None], Y)
    np.testing.assert_allclose(pipeline.predict_proba(S[:, None]), LogisticCalibrator().fit(S, Y).predict_proba(S))
    search = GridSearchCV(LogisticCalibrator(), {"penalty": [0.0, 100.0]}, scoring="neg_log_loss").fit(S[:, None], Y)
    assert search.best_params_ == {"penalty": 0.0}


def test_sample_weight_is_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        weighted = PlattCalibrator().set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, weighted).fit(S[:, None], Y, sample_weight=np.arange(200))
    direct = PlattCalibrator().fit(S, Y, np.arange(200))
    np.testing.assert_allclose(pipeline.predict_proba(S[:, None]), direct.predict_proba(S), atol=1e-9)


def test_repr_shows_what_was_chosen():
    assert repr(PlattCalibrator(input="log_odds")) == "PlattCalibrator(input='log_odds')"
    assert repr(PiecewiseLogisticCalibrator("grow")) == "PiecewiseLogisticCalibrator(n_pieces='grow')"


def test_the_base_is_abstract():
    with pytest.raises(NotImplementedError):
        Calibrator().fit(S, Y)


def test_oddities_are_said_in_plain_words():
    with pytest.warns(SeparableWarning, match=r"LogisticCalibrator: A threshold separates .* Platt's targets instead"):
        cal = LogisticCalibrator().fit([-1.0, -0.5, 0.5, 1.0], [0, 0, 1, 1])
    with pytest.warns(SeparableWarning, match="only Platt's targets keep the fit finite"):
        assert cal.a_ == pytest.approx(PlattCalibrator().fit([-1.0, -0.5, 0.5, 1.0], [0, 0, 1, 1]).a_)
    with pytest.warns(NegativeSlopeWarning, match="slope is negative"):
        PlattCalibrator().fit([0.0, 1.9, 2.0, 1.5], [1, 1, 0, 0])
    with pytest.warns(NegativeSlopeWarning, match="slope is negative"):
        GaussianCalibrator(tied=True).fit([0.0, 1.9, 2.0, 1.5], [1, 1, 0, 0])
    with pytest.warns(SpikeWarning):
        cal = AsymmetricLaplaceCalibrator().fit([-2.0, -1.0, 0.5, 0.0, 1.5, 3.0], [0, 0, 0, 1, 1, 1])
    assert [message[:46] for message in cal.fit_warnings_] == [
        "The mode of the positive class is at its edge ",
        "The mode of the negative class is at its edge ",
    ]
    with pytest.warns(SeparableWarning, match="do not determine one of the pieces"):
        PiecewiseLogisticCalibrator(penalty=0.0, knots=[5.0]).fit([-1.0, 0.5, 0.0, 1.0], [0, 0, 1, 1])


def test_separable_without_intercept_uses_platt_targets():
    one_sided, y = [-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1]
    with pytest.warns(SeparableWarning):
        cal = LogisticCalibrator(fit_intercept=False).fit(one_sided, y)
    assert np.isfinite(cal.a_)
    assert cal.predict_proba([0.0])[0, 1] == 0.5


@pytest.mark.parametrize("knots", [[2.0, 1.0], [np.nan], [[1.0, 2.0]], [1.0, 1.0]])
def test_bad_knots(knots):
    with pytest.raises(InvalidInputError, match="knots must be finite and ascending"):
        PiecewiseLogisticCalibrator(knots=knots).fit(S, Y)


def test_knots_that_leave_no_pair_fall_back_to_a_line():
    scores, y = np.repeat([0.0, 2.0], 20), np.tile([0, 0, 1, 1, 1], 8)
    cal = PiecewiseLogisticCalibrator(penalty=0.5).fit(scores, y)
    assert len(cal.slopes_) == 1
    assert cal.percentiles_ is None


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1)])
def test_predicted_labels_in_the_place_of_scores_are_noticed(labels):
    y = np.tile([0, 0, 1, 1, 1], 8)
    predicted = np.where(np.arange(40) % 4, y, 1 - y)
    with pytest.warns(PredictedLabelWarning, match="pass decision_function or predict_proba"):
        cal = PlattCalibrator().fit(np.where(predicted, labels[1], labels[0]), y)
    assert len(np.unique(cal.predict_proba(labels)[:, 1])) == 2
    # A few rows may lie at 0 and 1 by chance, and other values are not labels.
    PlattCalibrator().fit(predicted[:18], y[:18])
    PlattCalibrator().fit(2.0 * predicted, y)


def test_quantized_tables_of_few_cells():
    table = ScoreTable.from_arrays(S, Y).quantize(0.25)
    with pytest.warns(QuantizedSelectionWarning, match="knots: "):
        cal = PiecewiseLogisticCalibrator(penalty=0.5).fit_table(table)
    exact = PiecewiseLogisticCalibrator(penalty=0.5).fit(S, Y)
    np.testing.assert_allclose(cal.predict_proba([-1.0, 1.0]), exact.predict_proba([-1.0, 1.0]), atol=0.05)


def test_bias_zero_needs_one_variance():
    with pytest.raises(InvalidInputError, match="bias='zero' must come with tied=True"):
        GaussianCalibrator(bias="zero").fit(S, Y)


class TestSeam:
    def test_attributes_of_an_earlier_fit_do_not_outlive_it(self):
        fitted = GaussianCalibrator().fit(S, Y)
        assert fitted.positive_.parameters
        with pytest.warns(SingleClassWarning):
            fitted.fit(S, np.ones(len(S)))
        assert not hasattr(fitted, "positive_")
        assert not hasattr(GaussianCalibrator(tied=True).fit(S, Y).set_params(tied=False).fit(S, Y), "variance_")

    def test_a_method_may_return_its_map_alone(self):
        class Plain(Calibrator):
            _needs_order = False

            def _fit(self, data):
                assert isinstance(data, LabeledScores)
                return line_map(2.0)

        assert Plain().fit(S, Y).predict_proba([0.5])[0, 1] == pytest.approx(1 / (1 + np.exp(-1)))

    def test_notes_become_warnings_and_attributes_stay(self):
        class Noting(Calibrator):
            def _fit(self, data):
                return Fitted(line_map(1.0), {"rows_": data.rows}, [(SpikeWarning, "A spike.")])

        with pytest.warns(SpikeWarning, match="Noting: A spike"):
            fitted = Noting().fit(S, Y)
        assert fitted.fit_warnings_ == ["A spike."]
        assert fitted.rows_ == len(S)

    def test_a_fit_leaves_the_calibrators_of_other_fits_alone(self):
        """A search for a reading fits copies: nothing of them reaches the one that is fitted."""
        fitted = PlattCalibrator().fit(S, Y)
        assert set(vars(fitted)) == {
            *fitted.get_params(), "_chunks", "_found", "_taken_for", "a_", "b_", "band_", "classes_", "fingerprint_",
            "fit_warnings_", "map_", "n_features_in_", "targets_",
        }  # fmt: skip
