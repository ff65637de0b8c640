import pytest

import inbounds as ib
from inbounds.errors import ArgumentError
from inbounds.frames.local.column import PrivateColumn
from inbounds.frames.local.once import drawn_once, evaluated

AGE = PrivateColumn("age", ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0), "error")
PAY = PrivateColumn("pay", ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0), "error")


def failing(message: str, kind: type[BaseException] = RuntimeError) -> object:
    raise kind(message)


@pytest.mark.parametrize("column", [AGE, PAY])
def test_a_refusal_of_a_column_is_raised_by_itself(column: PrivateColumn) -> None:
    for refusal in column.refusals():
        with pytest.raises(ArgumentError) as caught:
            drawn_once(
                lambda text=str(refusal): failing(f"row 7 of 41.5: {text} (end)"), [AGE, PAY]
            )
        assert str(caught.value) == str(refusal)
        assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.mark.parametrize("kind", [RuntimeError, BaseException])
def test_any_other_message_is_dropped(kind: type[BaseException]) -> None:
    for run in (evaluated, lambda work: drawn_once(work, [AGE])):
        with pytest.raises(ArgumentError, match=r"^frame could not be evaluated") as caught:
            run(lambda: failing("41.5 has no square root", kind))
        assert "41.5" not in str(caught.value)
        assert "groups" not in str(caught.value)
        assert caught.value.__cause__ is caught.value.__context__ is None


def test_an_interruption_stays_what_it_is() -> None:
    with pytest.raises(KeyboardInterrupt):
        drawn_once(lambda: failing("", KeyboardInterrupt), [AGE])


def test_what_the_engine_returns_is_returned() -> None:
    assert drawn_once(lambda: 41, [AGE]) == evaluated(lambda: 41) == 41
