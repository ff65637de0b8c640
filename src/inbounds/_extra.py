"""Packages that only an extra installs: where one is missing, one error in one wording."""

from collections.abc import Iterator
from contextlib import contextmanager

from inbounds.errors import MissingPackageError

PACKAGES = {
    "dp_accounting": ("dp-accounting", "accounting"),
    "duckdb": ("duckdb", "frames"),
    "matplotlib": ("matplotlib", "plots"),
    "narwhals": ("narwhals", "frames"),
    "networkx": ("networkx", "graph"),
    "pandas": ("pandas", "frames"),
    "polars": ("polars", "frames"),
    "psycopg": ("psycopg", "ledger"),
    "pyarrow": ("pyarrow", "frames"),
    "pyspark": ("pyspark", "spark"),
    "rich": ("rich", "cli"),
    "sqlalchemy": ("SQLAlchemy", "ledger"),
    "typer": ("typer", "cli"),
}
"""For each optional module: the name of its package, and the extra that installs it."""


@contextmanager
def optional() -> Iterator[None]:
    """Let the imports in this block say which package is missing and how to install it.

    Examples
    --------
    >>> with optional():
    ...     raise ModuleNotFoundError(name="matplotlib.figure")
    Traceback (most recent call last):
    inbounds.errors.MissingPackageError: this needs the package matplotlib, which is not installed.
    Hint: pip install 'inbounds[plots]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        ours = named(error)
        if ours is None:
            raise
        raise ours from None


def named(error: ModuleNotFoundError) -> MissingPackageError | None:
    """Return our error for a missing package of ours, None for any other.

    Examples
    --------
    >>> named(ModuleNotFoundError(name="somebody_elses")) is None
    True
    """
    if isinstance(error, MissingPackageError):
        return error
    module = (error.name or "").partition(".")[0]
    if module not in PACKAGES:
        return None
    package, extra = PACKAGES[module]
    return MissingPackageError(
        f"this needs the package {package}, which is not installed.\n"
        f"Hint: pip install 'inbounds[{extra}]'",
        name=module,
    )
