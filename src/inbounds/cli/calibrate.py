"""``inbounds calibrate``: the noise that a guarantee needs, and the error of the outputs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from inbounds._table import Table
from inbounds.cli import arguments, output
from inbounds.cli.failure import UsageError
from inbounds.cli.mechanism import build, option_name

if TYPE_CHECKING:
    from inbounds.calibration.certificate import Certificate
    from inbounds.calibration.table_certificate import TableCertificate
    from inbounds.guarantee import Guarantee
    from inbounds.mechanisms.mechanism import Mechanism

    Proof = Certificate | TableCertificate

_SHOWN = 6  # coordinates that are shown, at most
_CHECKED = 1000  # rows of a proof that is checked again unasked, in about a second

EXAMPLES = r"""
[bold]Examples[/bold]

A mean age from 0 to 120 that one person changes by at most 2.5, pure epsilon 1:

$ inbounds calibrate --bounds 0:120 --sensitivity 2.5 --epsilon 1

The same with the bounded Gaussian mechanism, in place of the one with the lowest error:

$ inbounds calibrate --bounds 0:120 --sensitivity 2.5 --epsilon 1 \
  --mechanism bounded-gaussian

The one with which the mean of 10,000 people's ages, who release one each, is best read back:

$ inbounds calibrate --bounds 0:120 --sensitivity 120 --epsilon 1 \
  --people 10000

Two numbers released together, with a bound on the change of each:

$ inbounds calibrate --bounds 0:10 --bounds 1:9 \
  --sensitivity 4 --sensitivity 2 --epsilon 1

With a delta, as JSON; then with a figure and the proof in files:

$ inbounds calibrate --bounds=-5:5 --sensitivity 1e-1 --epsilon 1 \
  --delta 1e-6 --json

$ inbounds calibrate --bounds 0:1 --sensitivity 1 --epsilon 2 \
  --plot distribution.svg --certificate proof.json
"""


def calibrate(
    *,
    bounds: arguments.Bounds,
    sensitivity: arguments.Sensitivities,
    epsilon: arguments.EpsilonOrRho = None,
    delta: arguments.Delta = None,
    rho: arguments.Rho = None,
    norm: arguments.Norm = None,
    mechanism: arguments.MechanismOption = None,
    method: arguments.MethodOption = None,
    scaling: arguments.Scaling = None,
    objective: arguments.ObjectiveOption = None,
    criterion: arguments.CriterionOption = None,
    inside: arguments.Inside = False,
    people: arguments.People = None,
    step: arguments.Steps = None,
    json: arguments.Json = False,
    plot: arguments.Plot = None,
    value: Annotated[
        list[float] | None,
        typer.Option(
            metavar="NUMBER",
            help="A made-up value, in place of the middle, whose outputs are described. Repeat it, "
            "once per coordinate. Never use a private one: what is shown has no noise.",
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the proof of the pure epsilon to a JSON file, after checking it again.",
        ),
    ] = None,
) -> None:
    """Find the noise that a guarantee needs, certify its pure epsilon, and show its error."""
    guarantee = arguments.read_guarantee(epsilon, delta, rho)
    built = build(
        arguments.read_box(bounds, step),
        arguments.read_sensitivity(sensitivity, norm),
        guarantee,
        mechanism=mechanism,
        method=method,
        scaling=scaling,
        objective=objective,
        criterion=criterion,
        inside=inside,
        people=people,
    )
    most_rows = _CHECKED if certificate is None else None
    proof = checked_certificate(built, most_rows=most_rows)
    if certificate is not None:
        if proof is None:
            raise UsageError(
                f"--certificate must not be given with --mechanism {option_name(built)}, "
                "which has none. Hint: use --mechanism optimal, for one interval, or "
                "bounded-gaussian."
            )
        with output.written_whole(certificate) as file:
            file.write(proof.to_json().encode())
    if plot is not None:
        from inbounds.plots.release import release_figure  # noqa: PLC0415 - needs matplotlib

        output.save(release_figure(built), plot)
    facts = describe(built, guarantee, proof, most_rows=most_rows, people=people, value=value)
    if json:
        output.show_json({"mechanism": option_name(built), **facts})
    else:
        output.show(_table(built, facts))


def checked_certificate(mechanism: Mechanism, *, most_rows: int | None = None) -> Proof | None:
    """Return the certificate of the pure epsilon, checked again; None if a mechanism has none.

    Checking takes milliseconds per row, and is left out if there are more than `most_rows` rows.

    Examples
    --------
    >>> import inbounds as ib
    >>> checked_certificate(ib.BoundedGaussian(ib.Box(0, 1), 0.1, sigma=0.5)).epsilon
    0.25...
    >>> checked_certificate(ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0)) is None
    True
    """
    certify = getattr(mechanism, "certificate", None)
    if certify is None:
        return None
    proof: Proof = certify()
    if _is_short(proof, most_rows):
        proof.check()
    return proof


def _is_short(proof: Proof, most_rows: int | None) -> bool:
    return most_rows is None or len(proof.rows) <= most_rows


def describe(
    mechanism: Mechanism,
    guarantee: Guarantee,
    proof: Proof | None,
    *,
    most_rows: int | None = None,
    people: int | None = None,
    value: list[float] | None = None,
) -> dict[str, Any]:
    """Return what the command reports, under the names that JSON shows.

    `proof` is what `checked_certificate` returned, with the same `most_rows`. Outputs are described
    for `value`, or for the middle of the box.

    Examples
    --------
    >>> import inbounds as ib
    >>> m = ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0)
    >>> describe(m, arguments.read_guarantee(1.0), None)["bounds"]
    [(0.0, 1.0)]
    """
    import numpy as np  # noqa: PLC0415 - help must be quick

    from inbounds.analysis.error import CLEARLY, ErrorSummary  # noqa: PLC0415 - as above
    from inbounds.cli.rounded import seen_interval  # noqa: PLC0415 - as above
    from inbounds.mechanisms.noise_mechanism import scale_of  # noqa: PLC0415 - as above

    box = mechanism.domain
    bounds = zip(np.atleast_1d(box.lower).tolist(), np.atleast_1d(box.upper).tolist(), strict=True)
    middle = box.lower + (box.upper - np.asarray(box.lower)) / 2
    point = middle if value is None else _made_up(value, mechanism)
    low, high = seen_interval(mechanism, point, 0.95)
    span = {"value": point, "low": low, "high": high}
    facts: dict[str, Any] = {
        "bounds": list(bounds),
        "step": box.step,
        "sensitivity": repr(mechanism.sensitivity),
        "requested": guarantee.stated(),
        "scale": scale_of(mechanism),
        "pure_epsilon": mechanism.epsilon,
    }
    if guarantee.delta:
        upper, requested = mechanism.epsilon_at(guarantee.delta), guarantee.epsilon or 0.0
        kept = mechanism.delta(requested) <= guarantee.delta  # the search stops at a relative 1e-6
        facts["epsilon_at_delta"] = min(upper, requested) if kept else upper
    if guarantee.rho is not None:
        facts["rho"] = mechanism.rho
    certified = proof and {
        "epsilon": proof.epsilon,
        "precision": proof.precision,
        "arithmetic": "integers" if hasattr(proof, "table") else "balls",
        "checked": _is_short(proof, most_rows),
    }
    error, baseline = ErrorSummary.of(mechanism, people), ErrorSummary.of_middle(box, people)
    return facts | {
        "error": {key: value for key, value in asdict(error).items() if value is not None},
        "middle_of_the_box_rmse": baseline.rmse,
        "beats_the_middle": error.rmse < CLEARLY * baseline.rmse,
        f"interval_95_at_{'middle' if value is None else 'value'}": span,
        "certificate": certified,
    }


def _made_up(value: list[float], mechanism: Mechanism) -> Any:
    """Return the value, moved into the box as releases do."""
    import numpy as np  # noqa: PLC0415 - help must be quick

    box = mechanism.domain
    if len(value) != box.dimension:
        raise UsageError(
            f"--value must be given once per coordinate, got {len(value)} for {box.dimension}."
        )
    if np.isnan(value).any():
        raise UsageError("--value must be a number, got nan.")
    point = np.clip(value, box.lower, box.upper)
    return float(point[0]) if box.is_interval else point


def _table(mechanism: Mechanism, facts: dict[str, Any]) -> Table:
    from inbounds.guarantee import Amount  # noqa: PLC0415 - help must be quick

    labels = {"pure_epsilon": "true ε (pure)", "epsilon_at_delta": "true ε at δ", "rho": "true ρ"}
    error = facts["error"]
    span = facts.get("interval_95_at_value") or facts["interval_95_at_middle"]
    ends = zip(*(_flat(span[key]) for key in ("low", "high")), strict=True)
    text = ", ".join(f"{low:.6g} to {high:.6g}" for low, high in ends)
    text += ", …" * (mechanism.domain.dimension > _SHOWN)
    baseline = f"RMSE {facts['middle_of_the_box_rmse']:.6g} if it is always published"
    if not facts["beats_the_middle"]:
        baseline += ": not clearly more than this mechanism's, and at no privacy cost"
    rows = [
        ("asked for", f"{Amount(**facts['requested']):g}, sensitivity {facts['sensitivity']}"),
        *_scale_row(mechanism, facts["scale"]),
        *((labels[key], f"{facts[key]:.10g}") for key in labels if key in facts),
        ("RMSE", f"{error['average_rmse']:.6g} on average, {error['worst_rmse']:.6g} at worst"),
        *_mean_row(error.get("mean_rmse")),
        ("middle of the box", baseline),
        ("bias", f"{error['worst_bias']:.6g} at worst"),
        ("outputs at a bound", f"{error['bound_mass']:.1%} at worst"),
        ("95 % of outputs", f"{text}, for a value of {_number(span['value'])}"),
        _certified(facts),
    ]
    return Table.of_facts(f"{type(mechanism).__name__} on {mechanism.domain!r}", rows)


def _mean_row(rmse: float | None) -> list[tuple[str, str]]:
    """Return a row about the mean of many people, if it was asked for."""
    return [] if rmse is None else [("RMSE of their mean", f"{rmse:.6g}, as read back")]


def _scale_row(mechanism: Mechanism, scale: Any) -> list[tuple[str, str]]:
    """Return a row about the scale of the noise, if there is noise."""
    return (
        [] if scale is None else [(f"{next(iter(mechanism.parameters))} (scale)", _number(scale))]
    )


def _certified(facts: dict[str, Any]) -> tuple[str, str]:
    """Return a row about the proof, which is always of the pure epsilon."""
    proof, asked = facts["certificate"], facts["requested"]
    if proof is None:
        return "certificate", "none for this mechanism"
    kind = "ball arithmetic" if proof["arithmetic"] == "balls" else "integers"
    text = f"at most {proof['epsilon']:.17g}, proved in {kind}, "
    text += "checked again" if proof["checked"] else "not checked again (--certificate does)"
    other = "ρ" if "rho" in asked else "ε at δ" if asked.get("delta") else None
    return "pure ε, certified", text + (f"; {other} has no certificate" if other else "")


def _flat(numbers: Any) -> list[float]:
    import numpy as np  # noqa: PLC0415 - help must be quick

    flat: list[float] = np.atleast_1d(numbers).tolist()
    return flat[:_SHOWN]


def _number(numbers: Any) -> str:
    more = getattr(numbers, "size", 1) > _SHOWN
    return ", ".join(f"{number:.6g}" for number in _flat(numbers)) + (", …" if more else "")
