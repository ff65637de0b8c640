"""Differentially private outputs that stay in bounds.

>>> import inbounds as ib
>>> m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0)
>>> 0 <= m.release(41.3) <= 120
True
"""

from typing import TYPE_CHECKING

from inbounds._lazy import loader

if TYPE_CHECKING:
    from inbounds import frames as frames
    from inbounds import plots as plots
    from inbounds import queries as queries
    from inbounds import sklearn as sklearn
    from inbounds.accounting.composition import Composition, compose
    from inbounds.accounting.ledger import Ledger
    from inbounds.analysis.calibrate import calibrate
    from inbounds.analysis.compare import Comparison, compare
    from inbounds.analysis.limit import Limit, limit
    from inbounds.analysis.regimes import Regimes, regimes
    from inbounds.auditing.audit import Audit, audit
    from inbounds.calibration.certificate import Certificate
    from inbounds.calibration.limit_certificate import LimitCertificate
    from inbounds.calibration.table_certificate import TableCertificate
    from inbounds.domain import Box
    from inbounds.errors import (
        ArgumentError,
        ArgumentTypeError,
        BudgetExceededError,
        CertificateError,
        FewOutputsWarning,
        InBoundsError,
        LedgerError,
        MissingPackageError,
        NotPrivateWarning,
        RepeatedReleaseWarning,
        RowOrderWarning,
        WeakGuaranteeWarning,
    )
    from inbounds.frames.central.find_groups import find_groups
    from inbounds.frames.central.summarize import summarize
    from inbounds.frames.local.privatize import privatize
    from inbounds.frames.reading.estimate import estimate
    from inbounds.loss import PrivacyLoss
    from inbounds.mechanisms.bounded_gaussian import BoundedGaussian
    from inbounds.mechanisms.bounded_laplace import BoundedLaplace
    from inbounds.mechanisms.clamped_gaussian import ClampedGaussian
    from inbounds.mechanisms.clamped_laplace import ClampedLaplace
    from inbounds.mechanisms.clamped_staircase import ClampedStaircase
    from inbounds.mechanisms.fractions import Fractions
    from inbounds.mechanisms.mechanism import Mechanism
    from inbounds.mechanisms.optimal import Optimal
    from inbounds.mechanisms.randomized_response import RandomizedResponse
    from inbounds.mechanisms.window import Window
    from inbounds.recovery.deconvolve import Deconvolution, deconvolve
    from inbounds.sensitivity import L1, L2, LInf, PerCoordinate
    from inbounds.unit import Unit

__version__ = "0.1.0"

__all__ = [
    "L1",
    "L2",
    "ArgumentError",
    "ArgumentTypeError",
    "Audit",
    "BoundedGaussian",
    "BoundedLaplace",
    "Box",
    "BudgetExceededError",
    "Certificate",
    "CertificateError",
    "ClampedGaussian",
    "ClampedLaplace",
    "ClampedStaircase",
    "Comparison",
    "Composition",
    "Deconvolution",
    "FewOutputsWarning",
    "Fractions",
    "InBoundsError",
    "LInf",
    "Ledger",
    "LedgerError",
    "Limit",
    "LimitCertificate",
    "Mechanism",
    "MissingPackageError",
    "NotPrivateWarning",
    "Optimal",
    "PerCoordinate",
    "PrivacyLoss",
    "RandomizedResponse",
    "Regimes",
    "RepeatedReleaseWarning",
    "RowOrderWarning",
    "TableCertificate",
    "Unit",
    "WeakGuaranteeWarning",
    "Window",
    "audit",
    "calibrate",
    "compare",
    "compose",
    "deconvolve",
    "estimate",
    "find_groups",
    "limit",
    "privatize",
    "regimes",
    "summarize",
]

_HOMES = {
    "inbounds.accounting.composition": ("Composition", "compose"),
    "inbounds.accounting.ledger": ("Ledger",),
    "inbounds.auditing.audit": ("Audit", "audit"),
    "inbounds.analysis.calibrate": ("calibrate",),
    "inbounds.analysis.compare": ("Comparison", "compare"),
    "inbounds.analysis.limit": ("Limit", "limit"),
    "inbounds.analysis.regimes": ("Regimes", "regimes"),
    "inbounds.recovery.deconvolve": ("Deconvolution", "deconvolve"),
    "inbounds.calibration.certificate": ("Certificate",),
    "inbounds.calibration.table_certificate": ("TableCertificate",),
    "inbounds.calibration.limit_certificate": ("LimitCertificate",),
    "inbounds.domain": ("Box",),
    "inbounds.errors": (
        "ArgumentError",
        "ArgumentTypeError",
        "BudgetExceededError",
        "CertificateError",
        "FewOutputsWarning",
        "InBoundsError",
        "LedgerError",
        "MissingPackageError",
        "NotPrivateWarning",
        "RepeatedReleaseWarning",
        "RowOrderWarning",
        "WeakGuaranteeWarning",
    ),
    "inbounds.frames.local.privatize": ("privatize",),
    "inbounds.frames.central.find_groups": ("find_groups",),
    "inbounds.frames.central.summarize": ("summarize",),
    "inbounds.frames.reading.estimate": ("estimate",),
    "inbounds.loss": ("PrivacyLoss",),
    "inbounds.mechanisms.bounded_gaussian": ("BoundedGaussian",),
    "inbounds.mechanisms.bounded_laplace": ("BoundedLaplace",),
    "inbounds.mechanisms.clamped_gaussian": ("ClampedGaussian",),
    "inbounds.mechanisms.clamped_laplace": ("ClampedLaplace",),
    "inbounds.mechanisms.clamped_staircase": ("ClampedStaircase",),
    "inbounds.mechanisms.fractions": ("Fractions",),
    "inbounds.mechanisms.mechanism": ("Mechanism",),
    "inbounds.mechanisms.optimal": ("Optimal",),
    "inbounds.mechanisms.randomized_response": ("RandomizedResponse",),
    "inbounds.mechanisms.window": ("Window",),
    "inbounds.sensitivity": ("L1", "L2", "LInf", "PerCoordinate"),
    "inbounds.frames": (),
    "inbounds.plots": (),
    "inbounds.queries": (),
    "inbounds.sklearn": (),
    "inbounds.unit": ("Unit",),
}


if not TYPE_CHECKING:  # a type checker would accept every misspelt name
    __getattr__ = loader(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "frames", "plots", "queries", "sklearn"})
