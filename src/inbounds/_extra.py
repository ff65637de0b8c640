"""Optional packages, and the error for a missing one, which names the extra to install."""

from collections.abc import Iterator
from contextlib import contextmanager

from inbounds.errors import MissingPackageError

PACKAGES = {
    "dp_accounting": ("dp-accounting", "accounting"),
    "duckdb": ("duckdb", "frames"),
    "matplotlib": ("matplotlib", "plots"),
    "narwhals": ("narwhals", "frames"),
    "networkx": ("networkx", "graph"),
    "numba": ("numba", "fast"),
    "pandas": ("pandas", "frames"),
    "polars": ("polars", "frames"),
    "psycopg": ("psycopg", "ledger"),
    "pyarrow": ("pyarrow", "frames"),
    "pyspark": ("pyspark", "spark"),
    "rich": ("rich", "cli"),
    "sklearn": ("scikit-learn", "sklearn"),
    "sqlalchemy": ("SQLAlchemy", "ledger"),
    "starlette": ("starlette", "explore"),
    "typer": ("typer", "cli"),
    "uvicorn": ("uvicorn", "explore"),
}
"""The package of each optional module, and the extra that installs it."""


@contextmanager
def optional() -> Iterator[None]:
    """Make failing imports in this block say which package is missing and how to install it.

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
        missing = missing_package(error)
        if missing is None:
            raise
        raise missing from None


def missing_package(error: ModuleNotFoundError) -> MissingPackageError | None:
    """Return our error if an optional package is missing, and None if any other is.

    Examples
    --------
    >>> missing_package(ModuleNotFoundError(name="somebody_elses")) is None
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
