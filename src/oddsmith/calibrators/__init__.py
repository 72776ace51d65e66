"""One calibrator per idea, one idea per file: calibrators of two classes and joint scalings of several."""

import typing as _typing
from functools import partial as _partial

from oddsmith._foreign_names import refuse as _refuse
from oddsmith.calibrators._base import Calibrator as Calibrator
from oddsmith.calibrators._base import Fitted as Fitted
from oddsmith.calibrators.auto import AutoCalibrator as AutoCalibrator
from oddsmith.calibrators.auto_scaling import AutoScaling as AutoScaling
from oddsmith.calibrators.bbq import BBQCalibrator as BBQCalibrator
from oddsmith.calibrators.beta import BetaCalibrator as BetaCalibrator
from oddsmith.calibrators.binning import HistogramCalibrator as HistogramCalibrator
from oddsmith.calibrators.binning import ScalingBinningCalibrator as ScalingBinningCalibrator
from oddsmith.calibrators.centered import CenteredIsotonicCalibrator as CenteredIsotonicCalibrator
from oddsmith.calibrators.cosine import CosineCalibrator as CosineCalibrator
from oddsmith.calibrators.density import AsymmetricGaussianCalibrator as AsymmetricGaussianCalibrator
from oddsmith.calibrators.density import AsymmetricLaplaceCalibrator as AsymmetricLaplaceCalibrator
from oddsmith.calibrators.density import DensityCalibrator as DensityCalibrator
from oddsmith.calibrators.density import GaussianCalibrator as GaussianCalibrator
from oddsmith.calibrators.density import HybridCalibrator as HybridCalibrator
from oddsmith.calibrators.density import LaplaceCalibrator as LaplaceCalibrator
from oddsmith.calibrators.enir import ENIRCalibrator as ENIRCalibrator
from oddsmith.calibrators.isotonic import IsotonicCalibrator as IsotonicCalibrator
from oddsmith.calibrators.monotone import MonotoneLogisticCalibrator as MonotoneLogisticCalibrator
from oddsmith.calibrators.piecewise import PiecewiseLogisticCalibrator as PiecewiseLogisticCalibrator
from oddsmith.calibrators.scaling import DirichletScaling as DirichletScaling
from oddsmith.calibrators.scaling import MatrixScaling as MatrixScaling
from oddsmith.calibrators.scaling import TemperatureScaling as TemperatureScaling
from oddsmith.calibrators.scaling import VectorScaling as VectorScaling
from oddsmith.calibrators.sigmoid import LogisticCalibrator as LogisticCalibrator
from oddsmith.calibrators.sigmoid import PlattCalibrator as PlattCalibrator
from oddsmith.calibrators.spline import SplineCalibrator as SplineCalibrator
from oddsmith.calibrators.squash import LogisticCorrectionCalibrator as LogisticCorrectionCalibrator
from oddsmith.calibrators.squash import MinMaxCalibrator as MinMaxCalibrator
from oddsmith.calibrators.squash import SquashCalibrator as SquashCalibrator
from oddsmith.calibrators.temperature import TemperatureCalibrator as TemperatureCalibrator
from oddsmith.calibrators.venn_abers import VennAbersCalibrator as VennAbersCalibrator

#: Every calibrator and scaling that is imported here, and the class that calibrators share.
__all__ = sorted(name for name in globals() if name.endswith(("Calibrator", "Scaling")))

# Names that other rooms use.
from oddsmith.calibrators._base import method_name as method_name
from oddsmith.calibrators.registry import METHODS as METHODS
from oddsmith.calibrators.registry import ONE_VS_REST as ONE_VS_REST
from oddsmith.calibrators.registry import SCALINGS as SCALINGS
from oddsmith.calibrators.registry import Method as Method
from oddsmith.calibrators.registry import find_method as find_method
from oddsmith.calibrators.registry import fit_method as fit_method
from oddsmith.calibrators.registry import register_calibrator as register_calibrator
from oddsmith.calibrators.registry import resolve_method as resolve_method
from oddsmith.calibrators.scaling import JointScaling as JointScaling

for _name in __all__:
    if _name != "Calibrator":
        register_calibrator(globals()[_name])

if not _typing.TYPE_CHECKING:  # for which it would make every name known
    __getattr__ = _partial(_refuse, __name__)
