"""The ledger that a command charges, and a dry run that charges and draws nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from inbounds.cli import output
from inbounds.cli.failure import UsageError
from inbounds.cli.ledger import remaining_statement, tell_fit

if TYPE_CHECKING:
    from inbounds.accounting.ledger import Ledger
    from inbounds.accounting.request import Fit

_PLACE = "INBOUNDS_LEDGER"


class _StopError(Exception):
    """Nothing more is to be done: the ledger has said what a release would cost."""


class AskingLedger:
    """Stands in for a ledger: a release is not charged or drawn, but asked for.

    Everything that comes before the charge is done as usual, so that its errors are found.

    Examples
    --------
    >>> import tempfile
    >>> import inbounds as ib
    >>> ledger = ib.Ledger(tempfile.mkdtemp() + "/budget.db")
    >>> ledger.open("survey", epsilon=3.0)
    >>> m = ib.BoundedLaplace.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0)
    >>> asking = AskingLedger(ledger)
    >>> fit = asking.ask(lambda: asking.release(m, 41.3, dataset="survey", unit=None))
    >>> fit.fits, round(fit.cost.epsilon, 9), round(fit.remaining.epsilon, 9)
    (True, 1.0, 2.0)
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._fit: Fit | None = None

    def release(self, mechanism: Any, value: Any, *, dataset: str, unit: Any, **_: Any) -> None:
        """Ask whether a release would fit, and stop."""
        self._fit = self._ledger.would_fit(mechanism, dataset=dataset, unit=unit)
        raise _StopError

    def ask(self, work: Callable[[], object]) -> Fit | None:
        """Return whether the release that `work` makes would fit; None if it makes none."""
        try:
            work()
        except _StopError:
            return self._fit
        return None


@dataclass(frozen=True, slots=True)
class Charge:
    """The ledger, the dataset, the label and the ledger's place; all are None without a ledger."""

    ledger: Ledger | None
    dataset: str | None
    label: str | None
    place: str | None = None

    @classmethod
    def read(
        cls,
        place: str | None,
        dataset: str | None,
        label: str | None,
        user: str | None,
        *,
        dry_run: bool,
    ) -> Charge:
        """Open the ledger that ``--ledger`` names, or the environment where a dataset is given."""
        if place is None and dataset is not None:
            place = os.environ.get(_PLACE)
        others = {"--dataset": dataset, "--label": label, "--user": user, "--dry-run": dry_run}
        if place is None:
            for option, given in others.items():
                if given not in (None, False):
                    raise UsageError(f"{option} must not be given without --ledger.")
            return cls(None, None, None)
        if dataset is None:
            raise UsageError("--dataset must be given with --ledger.")
        from inbounds.accounting.ledger import Ledger  # noqa: PLC0415 - help must be quick

        ledger = Ledger(place, user=user)
        ledger.budget(dataset)  # an unknown dataset is refused before anything is read
        return cls(ledger, dataset, label, place)

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of the library that say what to charge."""
        return {"ledger": self.ledger, "dataset": self.dataset, "label": self.label}

    def check_unit(self, person: str | None) -> None:
        """Refuse to charge a budget for people if nothing says which rows are whose."""
        if self.ledger is None or self.dataset is None or person is not None:
            return
        unit = self.ledger.budget(self.dataset).unit
        if unit is not None and unit.of == "person":
            raise UsageError(
                f"--id must be given, because the budget of {self.dataset!r} is for people: {unit}."
            )

    def tell_fit(self, release: Callable[..., object], *, json: bool) -> None:
        """Say whether a release would fit in the budget; if not, the exit code is that of one."""
        assert self.ledger is not None
        assert self.dataset is not None
        asking = AskingLedger(self.ledger)
        fit = asking.ask(lambda: release(**self.options | {"ledger": asking}))
        if fit is not None:
            tell_fit(fit, self.ledger, self.dataset, json)
        elif json:
            left = self.ledger.remaining(self.dataset).stated()
            facts = {"dataset": self.dataset, "fits": True, "cost": {}, "remaining": left}
            output.show_json(facts)
        else:
            typer.echo(f"{self.dataset}: this would cost nothing.")

    def tell_remaining(self) -> None:
        """Say on standard error what is left of the budget."""
        if self.ledger is not None and self.dataset is not None:
            typer.echo(remaining_statement(self.ledger, self.dataset), err=True)
