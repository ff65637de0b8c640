"""A small real table to try things on. Source and licence: README.md beside this file."""

from importlib.resources import files

import numpy as np
from numpy.typing import NDArray


def load_anes96() -> dict[str, NDArray[np.int64]]:
    """Return 944 respondents of the American National Election Study 1996 (public domain).

    Columns: `age` in years, `education` (1 to 7), `income` bracket (1 to 24) and `tv_news`, days
    a week. ``pandas.DataFrame(load_anes96())`` makes a frame of it.

    Examples
    --------
    >>> from inbounds.data import load_anes96
    >>> table = load_anes96()
    >>> len(table["age"]), int(table["age"].min()), int(table["age"].max())
    (944, 19, 91)
    """
    text = (files(__name__) / "anes96.csv").read_text(encoding="utf-8")
    names, *rows = (line.split(",") for line in text.splitlines())
    columns = np.array(rows, dtype=np.int64).T
    return dict(zip(names, columns, strict=True))
