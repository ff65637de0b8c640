"""What reads text that anybody may have written, each as a function of bytes.

A target returns if the text was read rightly or refused as it should be; anything else it raises
is a find. They are plain functions, so the ordinary tests run them too.
"""

import json
import math
import re
import struct
from collections.abc import Callable
from fractions import Fraction
from io import BytesIO

from flint import arb, ctx

from inbounds import (
    BoundedGaussian,
    BoundedLaplace,
    Box,
    Certificate,
    InBoundsError,
    Mechanism,
    Optimal,
    PrivacyLoss,
    Unit,
    Window,
    limit,
)
from inbounds.accounting.cost import Cost
from inbounds.calibration.limit_certificate import LimitCertificate
from inbounds.calibration.table import LevelTable
from inbounds.calibration.table_certificate import TableCertificate
from inbounds.cli.arguments import read_box
from inbounds.cli.failure import InputError, UsageError
from inbounds.cli.rows import Layout, checked_first

_LAYOUTS = (Layout(1), Layout(2), Layout(1, ("age",)), Layout(2, ("a", "b")))
# All that may be said of a private file: where, and what is wanted there.
_MESSAGE = re.compile(
    r"line \d+ (cannot be read as CSV|is blank, but must hold a value"
    r"|must be (a finite number|2 finite numbers), as in [\d.,]+"
    r"|must have (a finite number in age|2 finite numbers in a, b"
    r"|as many cells as the first line))\."
    r"|--column: the input has (no column|\d+ columns named) '(age|a|b)'\."
    r"( Hint: its cells seem to be separated by '(;|\\t|\|)': use --delimiter\.)?"
    r"|--column must be named in the first line, but the input is empty\."
)


def rows(data: bytes) -> None:
    """Read the file of `inbounds release`; the first byte chooses how."""
    layout = _LAYOUTS[data[0] % len(_LAYOUTS)] if data else _LAYOUTS[0]
    try:
        read = list(checked_first(BytesIO(data[1:]), layout))
    except (InputError, UsageError) as error:
        message = error.format_message() if isinstance(error, UsageError) else str(error)
        assert _MESSAGE.fullmatch(message), "an error shows more than a place"
        return
    assert all(len(row) == layout.width and all(map(math.isfinite, row)) for row in read)


def certificate(data: bytes) -> None:
    """Read a certificate and check it."""
    try:
        proof = Certificate.from_json(_document("certificate", data))
        repr(proof)
        proof.check()
    except InBoundsError:
        return
    assert proof.epsilon >= 0, "nothing is more private than nothing"


def table(data: bytes) -> None:
    """Read a table of integers and check it for a sensitivity and an epsilon."""
    try:
        read = LevelTable.from_json(_document("table", data))
        repr(read)
        _assert_privacy(read.check(0.5, 1.0), 1.0)
    except InBoundsError:
        return
    assert LevelTable.from_json(read.to_json()) == read


def table_certificate(data: bytes) -> None:
    """Read the certificate of a table and check it."""
    try:
        proof = TableCertificate.from_json(_document("table_certificate", data))
        repr(proof)
        proof.check()
    except InBoundsError:
        return
    _assert_privacy(proof.table, proof.epsilon)
    assert TableCertificate.from_json(proof.to_json()) == proof


def _assert_privacy(table: LevelTable, epsilon: float) -> None:
    """Compare all rows that neighbours may have, pair by pair, in exact arithmetic."""
    assert all(sum(row) == 1 << 128 for row in table.rows)
    pairs = [
        pair
        for i, row in enumerate(table.rows)
        for other in table.rows[i : i + table.reach + 1]
        for pair in zip(row, other, strict=True)
    ]
    worst = max(Fraction(max(pair), min(pair)) for pair in pairs)
    with ctx.workprec(256):
        ratio = arb(worst.numerator) / arb(worst.denominator)
        assert not ratio > arb(epsilon).exp(), "two neighbours differ by more than e^epsilon"


def mechanism(data: bytes) -> None:
    """Read a mechanism, and write it again; a table must be as private as it says."""
    try:
        read = Mechanism.from_json(_document("mechanism", data))
    except InBoundsError:
        return
    assert Mechanism.from_json(read.to_json()) == read
    if isinstance(read, Optimal):
        _assert_privacy(read.table, read.epsilon)


def limit_certificate(data: bytes) -> None:
    """Read the certificate of a limit and check it."""
    try:
        proof = LimitCertificate.from_json(_document("limit_certificate", data))
        repr(proof)
        str(proof)
        proof.check()
    except InBoundsError:
        return
    lower, upper = map(Fraction, proof.bounds)
    width, step = upper - lower, Fraction(proof.step or 0)
    known = {"worst": width**2 / 4, "average": width**2 / 12 + step * width / 6}
    least = known.get(proof.objective)  # the error of a constant output in the middle, at most
    assert least is None or Fraction(proof.lower) <= least, "a mechanism is below the limit"


def loss(data: bytes) -> None:
    """Read a privacy loss, and write it again."""
    try:
        read = PrivacyLoss.from_json(_document("loss", data))
    except InBoundsError:
        return
    assert min(read.epsilon, read.mu, read.rho) >= 0
    assert PrivacyLoss.from_json(read.to_json()) == read


def cost(data: bytes) -> None:
    """Read a cost from a ledger; the ledger takes these errors as signs of tampering."""
    try:
        read = Cost.from_json(_document("cost", data))
        again = Cost.from_json(read.to_json())
    except (InBoundsError, KeyError, OverflowError, RecursionError, TypeError, ValueError):
        return
    assert read.epsilon >= 0
    assert 0 <= read.delta <= 1
    assert again == read


def bounds(data: bytes) -> None:
    """Read what stands behind ``--bounds``, repeated once for each line."""
    try:
        box = read_box(_text(data).split("\n"))
    except (InBoundsError, UsageError):
        return
    assert (box.widths > 0).all()


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


def _document(name: str, data: bytes) -> str:
    """Read bytes as text; after a zero, as numbers to put into one of the seeds.

    Few changes of a byte leave JSON that can be read at all. Numbers are nine bytes each: whose
    place it takes, and a double.
    """
    if len(data) < 2 or data[0]:
        return _text(data)
    text = SEEDS[name][data[1] % 3].decode()
    for start in range(2, len(data) - 8, 9):
        places = [match.span() for match in _NUMBER.finditer(text)]
        first, last = places[data[start] % len(places)]
        (number,) = struct.unpack("<d", data[start + 1 : start + 9])
        text = text[:first] + json.dumps(number) + text[last:]
    return text


_NUMBER = re.compile(r"-?\b[\d.][\d.e+-]*|-?Infinity|NaN|null")
_ZERO = b"\0\0" + bytes(9) + b"\1" + struct.pack("<d", 1.5)
_PROOFS = (
    BoundedGaussian(Box(0, 120), 2.5, sigma=16.0).certificate(),
    BoundedLaplace(Box([0, 0], [1, 2]), 1, scale=1.0).certificate(),
    BoundedGaussian(Box([0, 0], [1, 2]), 1, sigma=1.0).certificate(),
)
_MOST, _RATIO = (1 << 128) * 10 // 37 + 1, (27, 10)  # 2.7 is below e
_ROWS = ((_MOST, (1 << 128) - _MOST), ((1 << 128) - _MOST, _MOST))
_TABLES = (
    LevelTable("cells", 0.0, 1.0, (0.0, 0.5, 1.0), 1, _ROWS, (0.25, 0.75), *_RATIO),
    LevelTable("knots", 0.0, 1.0, (-0.25, 1.25), 1, _ROWS, (0.0, 1.0), *_RATIO),
    LevelTable("cells", 0.0, 1.0, (0.0, 1.0), 1, ((1 << 128,),), (0.5,), 1, 1),
)
_TABLE_PROOFS = [TableCertificate(made, 0.5, 1.0) for made in _TABLES]
_LIMITS = (
    limit(Box(0, 1), 1, epsilon=1.0, objective="worst").certificate(),
    limit(Box(0, 4, step=1), 1, epsilon=1.0).certificate(),
    limit(Box(0, 2, step=1), 2, epsilon=2.0, objective="worst").certificate(),
)
_MECHANISMS = (
    BoundedGaussian(Box([0, 0], [1, 2], step=[1, None]), 1, sigma=1.0),
    Window(Box(0, 4, step=1), 4, epsilon=1.0),
    Optimal(Box(0.0, 1.0), 0.5, epsilon=1.0, table=_TABLES[0]),
)
_LOSSES = (
    PrivacyLoss.pure(0.5),
    PrivacyLoss.concentrated(0.1).about(Unit("replace", "person", 3)),
    PrivacyLoss(1.0, 2.0, 0.5, ()),
)
_BAD_JSON = (
    *(
        b"",
        b"null",
        b"[]",
        b"{}",
        b"[" * 100_000,
        b'{"rows": 1}',
        b'{"rows": [{}]}',
        b"\xff",
        b"NaN",
    ),
    *(b"9" * 5000, b'"' + b"x" * 100, b'{"epsilon": 1e999, "mu": -1, "rho": NaN, "profile": [[]]}'),
)


def _spoilt(text: str) -> list[bytes]:
    """Replace each number of a document, one after the other, by what is none."""
    spans = [match.span() for match in _NUMBER.finditer(text)][:12]
    wrong = ("-1", "0", "1e400", "NaN", "null", "true", '"1"', "[]", "9" * 400)
    return [(text[:a] + new + text[b:]).encode() for a, b in spans for new in wrong]


Target = Callable[[bytes], None]
TARGETS: dict[str, Target] = {
    target.__name__: target
    for target in (
        *(rows, certificate, table, table_certificate, limit_certificate),
        *(loss, cost, bounds, mechanism),
    )
}
SEEDS: dict[str, tuple[bytes, ...]] = {
    "rows": (
        b"\x0041.3\n-2e5\r\n7\n\n",
        b"\x012.5, 4\n1e0,-3",
        b'\x02name,age\n"Doe, J.",41\n',
        b'\x03\xef\xbb\xbfa,b\n1,2\n"x\ny",3\n',
        *(b"\x00nan", b"\x001_0", b"\x00\n\n1", b"\x00\x00", b"\x01\xff\xfe", b'\x02age\n"', b""),
        b"\x00" + b"9" * 140_000,
    ),
    "certificate": (*(p.to_json().encode() for p in _PROOFS), _ZERO, *_BAD_JSON),
    "table": (*(made.to_json().encode() for made in _TABLES), _ZERO, *_BAD_JSON),
    "table_certificate": (*(p.to_json().encode() for p in _TABLE_PROOFS), _ZERO, *_BAD_JSON),
    "limit_certificate": (*(p.to_json().encode() for p in _LIMITS), _ZERO, *_BAD_JSON),
    "loss": (*(known.to_json().encode() for known in _LOSSES), _ZERO, *_BAD_JSON),
    "cost": (*(Cost.of(known).to_json().encode() for known in _LOSSES), _ZERO, *_BAD_JSON),
    "mechanism": (*(made.to_json().encode() for made in _MECHANISMS), _ZERO, *_BAD_JSON),
    "bounds": (
        *(b"0:120", b"-5:5", b"0:10\n1:9e0", b"0:1\n", b"::", b"1:0", b"nan:1", b"0:inf"),
        *(b"0:1e308\n-1e308:1e308", b"\xd9\xa1:\xd9\xa2", b"0x1:2", b"", b"1_0:2_0"),
    ),
}
DOCUMENTS = {
    "certificate": [text for p in _PROOFS[:2] for text in _spoilt(p.to_json())],
    "table": [text for made in _TABLES for text in _spoilt(made.to_json())],
    "table_certificate": [text for p in _TABLE_PROOFS[:2] for text in _spoilt(p.to_json())],
    "limit_certificate": [text for p in _LIMITS for text in _spoilt(p.to_json())],
    "mechanism": [text for made in _MECHANISMS for text in _spoilt(made.to_json())],
    "loss": [
        text for known in _LOSSES for text in _spoilt(json.dumps(json.loads(known.to_json())))
    ],
    "cost": [text for known in _LOSSES for text in _spoilt(Cost.of(known).to_json())],
}
