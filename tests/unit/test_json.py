import json
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import inbounds as ib
from inbounds import _json
from inbounds.calibration.certificate import Certificate
from inbounds.calibration.limit_certificate import LimitCertificate
from inbounds.calibration.table import LevelTable
from inbounds.calibration.table_certificate import TableCertificate


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_json_writes_of_a_double_is_read_as_that_double(number: float) -> None:
    assert _json.read(json.dumps([number])) == [number]
    assert _json.double(str(Fraction(number).numerator)) == Fraction(number).numerator


@given(st.integers(-(2**80), 2**80))
def test_an_integer_is_a_double_or_refused(number: int) -> None:
    if int(float(number)) == number:
        assert _json.read(str(number)) == number
    else:
        with pytest.raises(ValueError, match="double"):
            _json.read(str(number))


@given(st.integers(0, 10**30), st.integers(0, 25))
def test_a_decimal_is_a_double_its_shortest_decimal_or_refused(digits: int, shift: int) -> None:
    text = f"{digits}e-{shift}"
    written = Fraction(digits) / 10**shift
    try:
        number = _json.double(text)
    except ValueError:
        assert Fraction(float(text)) != written
        assert Fraction(repr(float(text))) != written
    else:
        assert written in (Fraction(number), Fraction(repr(number)))


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "Infinity",
        "-Infinity",
        "1e400",
        "-1e400",
        "1e-400",
        "9007199254740993",
        "0.1000000000000000000001",
        "9" * 400,
        "1" + "0" * 5000,
        '{"a": 1, "a": 1}',
    ],
)
def test_what_is_no_double_or_said_twice_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        _json.read(text)


@pytest.mark.parametrize("text", ["1_0", "٣", "inf", "nan", "", "x", "0x10"])
def test_what_only_python_reads_as_a_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        _json.double(text)
    assert math.isfinite(_json.double(" 2.5 "))


def _documents() -> dict[str, str]:
    table = ib.Optimal(ib.Box(0, 1), 0.5, 2.0).certificate()
    return {
        "Certificate": ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=1.0).certificate().to_json(),
        "TableCertificate": table.to_json(),
        "LevelTable": table.table.to_json(),
        "LimitCertificate": ib.limit(ib.Box(0, 4, step=1), 1, epsilon=1.0).certificate().to_json(),
    }


READERS = {c.__name__: c for c in (Certificate, TableCertificate, LevelTable, LimitCertificate)}


@pytest.mark.parametrize("reader", READERS)
def test_a_document_of_another_kind_is_refused_with_the_class_that_reads_it(reader: str) -> None:
    for kind, text in _documents().items():
        if kind == reader:
            assert READERS[reader].from_json(text).to_json() == text
            continue
        with pytest.raises(ib.ArgumentError, match=rf"Hint: {kind}\.from_json reads it"):
            READERS[reader].from_json(text)
    with pytest.raises(ib.ArgumentError) as caught:
        READERS[reader].from_json("{}")
    assert "Hint" not in str(caught.value)
