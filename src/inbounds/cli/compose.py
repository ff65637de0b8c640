"""``inbounds compose``: what several releases on the same data cost together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from inbounds import _json
from inbounds._table import Table
from inbounds.cli import arguments, output
from inbounds.cli.failure import UsageError
from inbounds.cli.mechanism import build
from inbounds.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from inbounds.accounting.composition import Composition
    from inbounds.loss import PrivacyLoss
    from inbounds.mechanisms.mechanism import Mechanism

EXAMPLES = r"""
[bold]Examples[/bold]

A hundred ages, each with the best mechanism at pure epsilon 0.1, as release takes it; then with the
bounded Gaussian, which has more noise and costs less together:

$ inbounds compose --delta 1e-6 \
  --release "bounds=0:120 sensitivity=2.5 epsilon=0.1 times=100"

$ inbounds compose --delta 1e-6 \
  --release "bounds=0:120 sensitivity=2.5 epsilon=0.1 times=100 \
  mechanism=bounded-gaussian"

With a joint release of two numbers, and a release of which only the epsilon is known:

$ inbounds compose --delta 1e-6 \
  --release "bounds=0:120 sensitivity=2.5 epsilon=0.1 times=100" \
  --release "bounds=0:10,1:9 sensitivity=4,2 epsilon=0.5" \
  --release "epsilon=0.2"

A single kind of release can be written as options, and drawn:

$ inbounds compose --delta 1e-6 --bounds 0:120 --sensitivity 2.5 \
  --epsilon 0.1 --times 100 --plot cost.svg
"""

_KEYS = (
    *("bounds", "step", "sensitivity", "norm", "epsilon", "delta", "rho", "mechanism"),
    *("objective", "times"),
)
_SUBJECTS = {
    **{key: f"{key}=" for key in _KEYS},
    **{name: f"bounds: {name}" for name in ("lower", "upper", "domain")},
    "epsilon or rho": "epsilon= or rho=",
}
_NEEDED = (
    *((key, "bounds") for key in ("step", "sensitivity", "norm", "mechanism", "objective")),
    ("bounds", "sensitivity"),
)
_DIGITS = 15  # of times: a double counts exactly that far


def compose(
    *,
    delta: Annotated[
        float, arguments.number_option(help="State the total cost at this delta; may be 0.")
    ],
    release: Annotated[
        list[str] | None,
        typer.Option(
            metavar='"KEY=VALUE ..."',
            help=f"One kind of release: any of {', '.join(_KEYS)}, as in the options, with commas "
            "between coordinates. Without bounds, only its privacy counts. Repeat it.",
        ),
    ] = None,
    bounds: Annotated[
        list[str] | None,
        typer.Option(metavar="LOW:HIGH", help="Range of the output; repeat it per coordinate."),
    ] = None,
    sensitivity: Annotated[
        list[float] | None,
        arguments.number_option(
            help="The most that one neighbour can change the value; repeat it likewise."
        ),
    ] = None,
    norm: arguments.Norm = None,
    step: arguments.Steps = None,
    epsilon: Annotated[
        float | None, arguments.number_option(help="Pure differential privacy of each release.")
    ] = None,
    rho: Annotated[
        float | None,
        arguments.number_option(help="Zero-concentrated privacy of each, in place of --epsilon."),
    ] = None,
    mechanism: Annotated[
        arguments.MechanismName | None,
        typer.Option(help="By default best, the one with the lowest average error."),
    ] = None,
    objective: arguments.ObjectiveOption = None,
    times: Annotated[
        int | None, typer.Option(help="The number of these releases; 1 by default.")
    ] = None,
    json: arguments.Json = False,
    plot: arguments.Plot = None,
) -> None:
    """Add up what releases about the same data cost, by every known bound, and name the best."""
    options: dict[str, Any] = {
        "bounds": ",".join(bounds or []),
        "step": ",".join(map(repr, step or [])),
        "sensitivity": ",".join(map(repr, sensitivity or [])),
        "norm": norm,
        "epsilon": epsilon,
        "rho": rho,
        "mechanism": mechanism,
        "objective": objective,
        "times": times,
    }
    fields = {key: str(value) for key, value in options.items() if value not in (None, "")}
    releases = [read(text) for text in release or []]
    if mechanism == "clamped-gaussian":  # --delta is for all releases together
        raise UsageError(f"--mechanism {mechanism} must be in --release, with its own delta=.")
    if fields:
        releases.insert(0, _built(fields))
    if not releases:
        raise typer.BadParameter("at least one must be given.", param_hint="--release")
    from inbounds.accounting import composition  # noqa: PLC0415 - help must be quick

    together = composition.compose(releases)
    facts = describe(together, delta)
    if json:
        output.show_json(facts)
    else:
        output.show(_table(facts))
    if plot is not None:  # last: what cannot be drawn is still printed
        _draw(releases, delta, plot)


def read(text: str) -> tuple[Mechanism | PrivacyLoss, int]:
    """Return the release that one ``--release`` describes, and how many of them there are.

    Examples
    --------
    >>> read("bounds=0:1 sensitivity=1 epsilon=0.5 mechanism=bounded-laplace times=3")
    (BoundedLaplace(Box(0, 1), L2(1), scale=2...), 3)
    >>> read("epsilon=0.5")
    (PrivacyLoss(epsilon=0.5, mu=0.62..., rho=0.122...), 1)
    """
    fields: dict[str, str] = {}
    for word in text.split():
        key, equals, value = word.partition("=")
        if key not in _KEYS or not equals or not value or key in fields:
            message = f"must be KEY=VALUE, each of {', '.join(_KEYS)} at most once, got {word!r}."
            raise typer.BadParameter(message, param_hint="--release")
        fields[key] = value
    try:
        return _built(fields)
    except (ArgumentError, ArgumentTypeError) as error:
        argument = error.argument or ""
        message = error.said_of(_SUBJECTS.get(argument, argument))  # hints are about options
    raise typer.BadParameter(message, param_hint="--release")


def _built(fields: dict[str, str]) -> tuple[Mechanism | PrivacyLoss, int]:
    epsilon, delta, rho = (_number(key, fields.get(key)) for key in ("epsilon", "delta", "rho"))
    times = _whole(fields.get("times", "1"))
    _check_together(fields)
    if "bounds" not in fields:
        from inbounds.loss import PrivacyLoss  # noqa: PLC0415 - help must be quick

        return PrivacyLoss.stated(epsilon, delta, rho), times
    changes, steps = (
        [_number(key, part) or 0.0 for part in fields.get(key, "").split(",") if part]
        for key in ("sensitivity", "step")
    )
    built = build(
        arguments.read_box(fields["bounds"].split(","), steps),
        arguments.read_sensitivity(changes, fields.get("norm")),
        arguments.read_guarantee(epsilon, delta, rho),
        mechanism=fields.get("mechanism"),
        objective=fields.get("objective"),
    )
    return built, times


def _check_together(fields: dict[str, str]) -> None:
    """Refuse keys without those that they need, and unknown names."""
    for key, needed in _NEEDED:
        if key in fields and needed not in fields:
            raise typer.BadParameter(f"{key} needs {needed} as well.", param_hint="--release")
    choices = {
        "mechanism": arguments.MechanismName,
        "norm": arguments.NormName,
        "objective": arguments.ObjectiveName,
    }
    for key, names in choices.items():
        if key in fields and fields[key] not in get_args(names):
            raise typer.BadParameter(f"there is no {key} {fields[key]!r}.", param_hint="--release")


def _number(key: str, text: str | None) -> float | None:
    try:
        return None if text is None else _json.typed(text)
    except ValueError:
        message = f"{key} must be a number, got {text!r}."
        raise typer.BadParameter(message, param_hint="--release") from None


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < len(text) <= _DIGITS and int(text)):
        message = f"times must be a whole number from 1 to {'9' * _DIGITS}, got {text!r}."
        raise typer.BadParameter(message, param_hint="--release")
    return int(text)


def describe(together: Composition, delta: float) -> dict[str, Any]:
    """Return what the command reports, under the names that JSON shows.

    Examples
    --------
    >>> from inbounds.accounting.composition import compose
    >>> facts = describe(compose([read("epsilon=0.1 times=4")]), 0.0)
    >>> facts["releases"], facts["best"], round(facts["epsilon"], 9)
    (4, 'basic', 0.4)
    """
    epsilons = together.epsilons(delta)
    best = min(epsilons, key=lambda bound: epsilons[bound])
    return {
        "releases": len(together),
        "delta": delta,
        "epsilon": epsilons[best],
        "best": best,
        "epsilons": epsilons,
        "pure_epsilon": together.pure,
        "rho": together.rho,
        "mu": together.gdp,
    }


def _table(facts: dict[str, Any]) -> Table:
    releases = f"{facts['releases']} release" + "s" * (facts["releases"] != 1)
    origin = {
        "basic": f"pure ε, added up: {facts['pure_epsilon']:.6g}",
        "optimal pure": "the best that pure ε alone allows",
        "total variation": "the best that pure ε and total variation allow",
        "zCDP": f"ρ, added up: {facts['rho']:.6g}",
        "GDP": f"μ, its squares added up: μ = {facts['mu']:.6g}",
        "PLD": "profiles of δ, convolved",
    }
    rows = tuple(
        (bound, f"{epsilon:.6g}", origin[bound] + " ← the cost" * (bound == facts["best"]))
        for bound, epsilon in sorted(facts["epsilons"].items(), key=lambda item: item[1])
    )
    title = f"{releases} together, at δ = {facts['delta']:g}"
    return Table(title, ("bound", "ε", "from"), rows, numbers=(1,))


def _draw(releases: list[Any], delta: float, plot: Any) -> None:
    from inbounds.plots.privacy import composition_figure  # noqa: PLC0415 - optional

    (first, times), *others = releases
    if others or not hasattr(first, "domain"):
        message = "only one kind of release can be drawn, and only with its bounds."
        raise typer.BadParameter(message, param_hint="--plot")
    counts = sorted({round(times ** (k / 8)) for k in range(9)})
    output.save(composition_figure(first, delta=delta, counts=counts), plot)
