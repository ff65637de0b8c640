"""``inbounds ledger``: privacy budgets, from the shell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from inbounds._table import Table
from inbounds.cli import arguments, output
from inbounds.cli.failure import UsageError
from inbounds.cli.help import Command, Group

if TYPE_CHECKING:
    from inbounds.accounting.ledger import Ledger
    from inbounds.accounting.request import Fit
    from inbounds.guarantee import Guarantee

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    help="Keep the privacy budgets of datasets, in a file or on a PostgreSQL server.",
    epilog="[bold]Examples[/bold]\n\n"
    "$ inbounds ledger open survey --epsilon 2 --ledger budget.db\n\n"
    "$ inbounds ledger show --ledger budget.db\n\n"
    "Each command shows more: [bold]inbounds ledger open --help[/bold]",
)

Place = Annotated[
    str,
    typer.Option(
        "--ledger",
        metavar="FILE|URL",
        envvar="INBOUNDS_LEDGER",
        help="The ledger's file or URL. A URL with a password is safer in the environment.",
    ),
]
Dataset = Annotated[str, typer.Argument(metavar="DATASET", help="Name of the dataset.")]
Epsilon = Annotated[float | None, arguments.number_option(help="Epsilon; pure without --delta.")]
Delta = Annotated[float | None, arguments.number_option(help="Delta that goes with --epsilon.")]
_HISTORY = (  # columns that fit on a screen; --json has all
    *("when", "user", "label", "mechanism", "unit"),
    *("releases", "asked", "charged", "cumulative"),
)
_LONGEST = 40  # characters of a mechanism; --json has all
_NUMBERS = ("releases", "charged", "cumulative")


@app.command(
    "open",
    cls=Command,
    epilog="[bold]Examples[/bold]"
    "\n\n$ inbounds ledger open survey-2026 --ledger budget.db --epsilon 3"
    "\n\n$ inbounds ledger open census --ledger budget.db --epsilon 1 --delta 1e-6 "
    "\\\n  --unit replace:person",
)
def open_(
    dataset: Dataset,
    *,
    ledger: Place,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: arguments.Rho = None,
    unit: arguments.UnitOption = None,
    exist_ok: Annotated[
        bool, typer.Option("--exist-ok", help="Accept a dataset that has exactly this budget.")
    ] = False,
    json: arguments.Json = False,
) -> None:
    """Give a dataset its budget, which cannot be changed later."""
    opened = _ledger(ledger)
    stated = arguments.read_unit(unit)
    opened.open(dataset, epsilon=epsilon, delta=delta, rho=rho, unit=stated, exist_ok=exist_ok)
    _tell(opened, dataset, json)


@app.command(
    cls=Command,
    epilog="[bold]Examples[/bold]"
    "\n\n$ inbounds ledger show --ledger budget.db"
    "\n\n$ inbounds ledger show survey-2026 --ledger budget.db --json",
)
def show(
    dataset: Annotated[
        str | None, typer.Argument(metavar="[DATASET]", help="Only this dataset.")
    ] = None,
    *,
    ledger: Place,
    json: arguments.Json = False,
) -> None:
    """Show budgets and what is left of them."""
    opened = _ledger(ledger)
    names = opened.datasets() if dataset is None else [dataset]
    facts = [_facts(opened, name) for name in names]
    if json:
        output.show_json(facts)
    else:
        columns = ("dataset", "unit", "budget", "remaining")
        shown = [{name: _text(fact[name]) for name in columns} for fact in facts]
        output.show(_table("Budgets", columns, shown))


@app.command(
    cls=Command,
    epilog="[bold]Examples[/bold]\n\n$ inbounds ledger history survey-2026 --ledger budget.db",
)
def history(dataset: Dataset, *, ledger: Place, json: arguments.Json = False) -> None:
    """List every charge: who asked for what, what it cost, and the total cost up to it."""
    records = _ledger(ledger).records(dataset)
    if json:
        output.show_json(records)
    else:
        shown = [{**record, "mechanism": _cut(str(record["mechanism"]))} for record in records]
        output.show(_table(f"History of {dataset}", _HISTORY, shown))


def _cut(text: str) -> str:
    """Return the beginning of a text, which fits on a screen beside others."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


@app.command(
    cls=Command,
    epilog="[bold]Examples[/bold]"
    "\n\n$ inbounds ledger spend survey-2026 --ledger budget.db --epsilon 0.1 \\\n"
    "  --label survey"
    "\n\n$ inbounds ledger spend survey-2026 --ledger budget.db --epsilon 0.5 --dry-run",
)
def spend(
    dataset: Dataset,
    *,
    ledger: Place,
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: arguments.Rho = None,
    unit: arguments.UnitOption = None,
    label: Annotated[str, typer.Option(help="What it is for; must not be private.")] = "",
    user: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who asks; by default the operating system's user."),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Charge nothing: say what would be left, or fail if it does not fit."
        ),
    ] = False,
    json: arguments.Json = False,
) -> None:
    """Charge for something that was released elsewhere."""
    opened = _ledger(ledger, user)
    stated = arguments.read_unit(unit)
    _check_terms(opened.budget(dataset), delta, rho)
    numbers: Any = {"epsilon": epsilon, "delta": delta, "rho": rho, "unit": stated}
    if dry_run:
        tell_fit(opened.would_fit(dataset=dataset, **numbers), opened, dataset, json)
        return
    opened.spend(dataset, **numbers, label=label)
    _tell(opened, dataset, json)


@app.command(
    cls=Command,
    epilog="[bold]Examples[/bold]"
    "\n\n$ inbounds ledger verify survey-2026 --ledger budget.db > head.txt"
    "\n\n$ inbounds ledger verify survey-2026 --ledger budget.db \\\n"
    "  --expected-head $(cat head.txt)",
)
def verify(
    dataset: Dataset,
    *,
    ledger: Place,
    expected_head: Annotated[
        str | None,
        typer.Option(metavar="HASH", help="An earlier head that must still be in the ledger."),
    ] = None,
    json: arguments.Json = False,
) -> None:
    """Check every entry against its hash, and print the hash of the newest one."""
    head = _ledger(ledger).verify(dataset, expected_head=expected_head)
    if json:
        output.show_json({"dataset": dataset, "head": head})
    else:
        typer.echo(head)


def _check_terms(budget: Guarantee, delta: float | None, rho: float | None) -> None:
    """Refuse a charge that cannot be counted in the budget's terms."""
    if delta and budget.delta is None:
        refused, instead = "--delta", "--epsilon alone"
    elif rho is not None and budget.is_pure:
        refused, instead = "--rho", "--epsilon"
    else:
        return
    instead += " or --rho" if budget.rho is not None else ""
    raise UsageError(f"{refused} must not be given for a budget of {budget:.6g}: give {instead}.")


def _ledger(place: str, user: str | None = None) -> Ledger:
    from inbounds.accounting.ledger import Ledger  # noqa: PLC0415 - help must be quick

    return Ledger(place, user=user)


def _facts(ledger: Ledger, dataset: str) -> dict[str, Any]:
    budget = ledger.budget(dataset)
    return {
        "dataset": dataset,
        "unit": budget.unit and str(budget.unit),
        "budget": budget.stated(),
        "remaining": ledger.remaining(dataset).stated(),
        "head": ledger.head(dataset),
    }


def _tell(ledger: Ledger, dataset: str, json: bool) -> None:
    if json:
        output.show_json(_facts(ledger, dataset))
    else:
        typer.echo(remaining_statement(ledger, dataset))


def remaining_statement(ledger: Ledger, dataset: str) -> str:
    """Return a sentence about what is left of a budget.

    Examples
    --------
    >>> import tempfile
    >>> ledger = _ledger(tempfile.mkdtemp() + "/budget.db")
    >>> ledger.open("survey", epsilon=3.0)
    >>> remaining_statement(ledger, "survey")
    'survey: epsilon=3 left of epsilon=3.'
    """
    remaining, budget = ledger.remaining(dataset).stated(), ledger.budget(dataset).stated()
    return f"{dataset}: {_text(remaining)} left of {_text(budget)}."


def tell_fit(fit: Fit, ledger: Ledger, dataset: str, json: bool) -> None:
    """Say whether a charge would fit; if not, the exit code is that of the charge itself."""
    facts = {
        "dataset": dataset,
        "fits": fit.fits,
        "cost": fit.cost.stated(),
        "remaining": fit.remaining.stated(),
    }
    if json:
        output.show_json(facts | ({} if fit else {"reason": fit.reason}))
    elif fit:
        left, budget = _text(facts["remaining"]), _text(ledger.budget(dataset).stated())
        cost = _text(facts["cost"])
        typer.echo(f"{dataset}: this would cost {cost}, and leave {left} of {budget}.")
    else:
        typer.echo(f"Error: {fit.reason}", err=True)
    if not fit:
        raise typer.Exit(1)


def _text(fact: Any) -> str:
    """Return a fact as text, and an amount of privacy as name=number."""
    if isinstance(fact, dict):
        from inbounds.guarantee import Amount  # noqa: PLC0415 - help must be quick

        return f"{Amount(**fact):.6g}"
    if fact is None:
        return "not stated"
    return f"{fact:.6g}" if isinstance(fact, float) else str(fact)


def _table(title: str, columns: tuple[str, ...], rows: list[dict[str, Any]]) -> Table:
    cells = tuple(tuple(_text(row[name]) for name in columns) for row in rows)
    numbers = tuple(k for k, name in enumerate(columns) if name in _NUMBERS)
    return Table(title, columns, cells, numbers=numbers)
