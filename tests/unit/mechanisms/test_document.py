import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import inbounds as ib
from inbounds.errors import ArgumentError, ArgumentTypeError, CertificateError, InBoundsError
from inbounds.mechanisms import document
from inbounds.mechanisms.document import read_mechanism, write_mechanism
from inbounds.mechanisms.mechanism import Mechanism

BOX, STEPS = ib.Box(-0.1, 1 / 3), ib.Box(0, 10, step=1)
PLANE = ib.Box([0, 1], [10, 9], step=[1, None])
MECHANISMS: list[Mechanism] = [
    ib.BoundedGaussian(BOX, 0.1, sigma=0.7),
    ib.BoundedGaussian(PLANE, ib.L2(3) & ib.PerCoordinate([4, 2]), [5.0, 0.1 + 0.2]),
    ib.BoundedLaplace(ib.Box([0.0], [1.0]), ib.L1(1), scale=0.25),
    ib.ClampedGaussian(STEPS, ib.LInf(3), sigma=2.0),
    ib.ClampedLaplace(ib.Box(0, 1e-300), 1e-301, scale=5e-301),
    ib.ClampedStaircase(BOX, 0.05, epsilon=2.0),
    ib.Window(STEPS, 10, epsilon=0.5),
    ib.Optimal(BOX, 0.2, epsilon=1.0),
    ib.Optimal(STEPS, 10, epsilon=1.0, objective="unbiased"),
]
ids = [repr(mechanism) for mechanism in MECHANISMS]


def changed(mechanism: Mechanism, *path: Any, to: Any) -> str:
    fields = json.loads(mechanism.to_json())
    place = fields
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = to
    return json.dumps(fields)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=ids)
def test_what_is_written_is_read_as_an_equal_mechanism(mechanism: Mechanism) -> None:
    again = ib.Mechanism.from_json(mechanism.to_json())
    assert again == mechanism
    assert type(mechanism).from_json(mechanism.to_json()) == mechanism
    assert again.to_json() == mechanism.to_json()
    assert again.domain.is_interval == mechanism.domain.is_interval
    assert again.epsilon == mechanism.epsilon
    assert again.loss() == mechanism.loss()
    middle = (np.asarray(mechanism.domain.lower) + mechanism.domain.upper) / 2
    assert np.array_equal(again.mean(middle), mechanism.mean(middle))
    assert np.array_equal(again.cdf(middle, middle), mechanism.cdf(middle, middle))


def test_every_public_mechanism_can_be_written() -> None:
    public = [getattr(ib, name) for name in ib.__all__]
    kinds = {
        kind.__name__
        for kind in public
        if isinstance(kind, type) and issubclass(kind, Mechanism) and kind is not Mechanism
    }
    assert kinds == set(document._HOMES)


@given(
    st.floats(-1e9, 1e9),
    st.floats(1e-9, 1e9),
    st.floats(1e-3, 1e3),
    st.sampled_from(["BoundedGaussian", "ClampedLaplace"]),
)
@settings(max_examples=50)
def test_any_doubles_survive(lower: float, width: float, ratio: float, name: str) -> None:
    upper = max(lower + width, float(np.nextafter(lower, np.inf)))
    box = ib.Box(lower, upper)
    mechanism = getattr(ib, name)(box, width, float(box.widths[0]) * ratio)
    assert read_mechanism(write_mechanism(mechanism)) == mechanism


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("format",), "inbounds"),
        (("version",), 2),
        (("version",), True),
        (("version",), 1.5),
        (("mechanism",), "Laplace"),
        (("mechanism",), ["Window"]),
        (("surprise",), 1),
        (("domain",), [0, 10]),
        (("domain", "lower"), "0"),
        (("domain", "lower"), None),
        (("domain", "lower"), [0.0, [1.0]]),
        (("domain", "lower"), 11),
        (("domain", "lower"), True),
        (("domain", "step"), -1),
        (("domain", "step"), "1"),
        (("domain", "more"), 1),
        (("sensitivity",), []),
        (("sensitivity",), {"norm": "l2", "bound": 10}),
        (("sensitivity", 0, "norm"), "l3"),
        (("sensitivity", 0, "bound"), 0),
        (("sensitivity", 0, "bound"), float("nan")),
        (("parameters",), {}),
        (("parameters", "epsilon"), -1),
        (("parameters", "epsilon"), 0),
        (("parameters", "epsilon"), 1e308),
        (("parameters", "epsilon"), float("inf")),
        (("parameters", "epsilon"), "1"),
        (("parameters", "epsilon"), [1.0]),
        (("parameters", "sigma"), 1),
        (("table",), {}),
    ],
)
def test_a_document_with_something_wrong_is_refused(path: Any, wrong: Any) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError)):
        read_mechanism(changed(MECHANISMS[6], *path, to=wrong))


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "{", "[" * 100_000, '{"a":' * 100_000, "9" * 5000, '{"a": 1, "a": 1}'],
)
def test_text_that_is_no_document_is_refused_without_a_context(text: str) -> None:
    with pytest.raises(
        ArgumentError, match="text must be a mechanism written by to_json"
    ) as caught:
        read_mechanism(text)
    assert caught.value.__suppress_context__


def test_a_number_that_no_double_has_is_refused() -> None:
    text = MECHANISMS[6].to_json()
    assert '"epsilon": 0.5' in text
    for wrong in ("0.50000000000000000001", "1e400", "NaN", "9" * 400):
        with pytest.raises(ArgumentError):
            read_mechanism(text.replace('"epsilon": 0.5', f'"epsilon": {wrong}'))


def test_only_text_is_read() -> None:
    with pytest.raises(ArgumentTypeError, match="text"):
        read_mechanism(MECHANISMS[0].to_json().encode())  # type: ignore[arg-type]


def test_a_table_that_does_not_give_its_epsilon_is_refused() -> None:
    for mechanism in MECHANISMS[-2:]:
        with pytest.raises(CertificateError, match="does not prove"):
            read_mechanism(changed(mechanism, "parameters", "epsilon", to=0.5))
    with pytest.raises(CertificateError, match="does not prove"):
        read_mechanism(changed(MECHANISMS[-2], "sensitivity", 0, "bound", to=0.3))
    with pytest.raises(CertificateError, match="another interval"):
        read_mechanism(changed(MECHANISMS[-1], "domain", "upper", to=11))


def test_a_table_with_a_changed_entry_is_refused() -> None:
    entry = json.loads(MECHANISMS[-1].to_json())["table"]["rows"][0][0]
    with pytest.raises(CertificateError, match=r"2\*\*128"):
        read_mechanism(changed(MECHANISMS[-1], "table", "rows", 0, 0, to=f"{int(entry, 16) + 1:x}"))
    with pytest.raises(ArgumentError):
        read_mechanism(changed(MECHANISMS[-1], "table", "rows", 0, 0, to="-1"))


def test_outputs_of_a_table_must_be_steps() -> None:
    outputs = json.loads(MECHANISMS[-1].to_json())["table"]["outputs"]
    off = [output + 0.5 if output < 10 else 9.5 for output in outputs]
    with pytest.raises(InBoundsError, match="steps"):
        read_mechanism(changed(MECHANISMS[-1], "table", "outputs", to=off))


def test_a_table_of_cells_is_no_unbiased_one() -> None:
    assert json.loads(MECHANISMS[-2].to_json())["table"]["kind"] == "cells"
    with pytest.raises(CertificateError, match=r'not made for the objective "unbiased"'):
        read_mechanism(changed(MECHANISMS[-2], "parameters", "objective", to="unbiased"))


def test_a_class_reads_its_own_kind_and_names_who_reads_others() -> None:
    with pytest.raises(ArgumentError, match=r"(?s)JSON of Window, got Optimal.*Optimal.from_json"):
        ib.Window.from_json(MECHANISMS[-1].to_json())
    with pytest.raises(ArgumentError, match=r"Mechanism\.from_json reads it"):
        ib.TableCertificate.from_json(MECHANISMS[-1].to_json())
    with pytest.raises(ArgumentError, match=r"TableCertificate\.from_json reads it"):
        ib.Mechanism.from_json(ib.Optimal(BOX, 0.2, epsilon=1.0).certificate().to_json())


RESPONSES = [
    ib.RandomizedResponse(["no", "yes", "d'oh", "ä"], epsilon=0.1),
    ib.RandomizedResponse([-3, 0, 2**53], epsilon=2.0),
    ib.RandomizedResponse([True, False], epsilon=1 / 3),
]


@pytest.mark.parametrize("response", RESPONSES, ids=repr)
def test_randomised_response_is_read_as_it_was_written(response: ib.RandomizedResponse) -> None:
    again = ib.RandomizedResponse.from_json(response.to_json())
    assert again == response
    assert [type(level) for level in again.levels] == [type(level) for level in response.levels]
    assert again.loss() == response.loss()
    assert read_mechanism(response.to_json()) == response


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("levels", "no"),
        ("levels", {"no": 1, "yes": 2}),
        ("levels", ["no"]),
        ("levels", ["no", "no"]),
        ("levels", ["no", 1]),
        ("levels", ["no", None]),
        ("levels", ["no", ["yes"]]),
        ("levels", [0.0, 1.0]),
        ("levels", [0, 9007199254740993]),
        ("levels", ["no", "\ud800"]),
        ("levels", ["no", "\0"]),
        ("levels", [str(i) for i in range(65_537)]),
        ("parameters", {}),
        ("parameters", {"epsilon": 0}),
        ("parameters", {"epsilon": -1.0}),
        ("parameters", {"epsilon": float("inf")}),
        ("parameters", {"epsilon": "1"}),
        ("parameters", {"epsilon": True}),
        ("parameters", {"epsilon": 1.0, "delta": 0.1}),
        ("version", 2),
        ("domain", {"lower": 0, "upper": 1, "step": None}),
    ],
)
def test_a_wrong_randomised_response_is_refused(name: str, wrong: Any) -> None:
    text = json.dumps(json.loads(RESPONSES[0].to_json()) | {name: wrong})
    with pytest.raises((ArgumentError, ArgumentTypeError)) as caught:
        ib.RandomizedResponse.from_json(text)
    assert caught.value.__cause__ is None


def test_integers_that_others_would_round_are_not_written() -> None:
    with pytest.raises(ArgumentError, match=r"from -2\*\*53 to 2\*\*53"):
        ib.RandomizedResponse([0, 2**53 + 1], epsilon=1.0).to_json()


def test_boxes_and_levels_are_not_taken_for_each_other() -> None:
    with pytest.raises(ArgumentError, match=r"RandomizedResponse\.from_json reads it"):
        ib.Mechanism.from_json(RESPONSES[0].to_json())
    with pytest.raises(ArgumentError, match=r"Window\.from_json reads it"):
        ib.RandomizedResponse.from_json(MECHANISMS[6].to_json())
