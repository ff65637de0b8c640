"""The audit: what it reads, what it reports, and that it believes nobody."""

import dataclasses
import io
import json
import math
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console

import inbounds as ib
from inbounds.auditing.audit import audit
from inbounds.auditing.event import epsilon_lower_bound
from inbounds.errors import ArgumentError, ArgumentTypeError
from inbounds.sampling.entropy import SeededEntropy

BOX = ib.Box(0, 1)
CLAIM = {"box": BOX, "sensitivity": 1, "claimed_epsilon": 1.0}


def seeded(mechanism, releases=200_000, **options):
    return audit(mechanism, releases=releases, entropy=SeededEntropy(5), **options)


@pytest.fixture(scope="module")
def passed():
    return seeded(ib.BoundedGaussian.calibrated(BOX, 1, epsilon=1.0))


@pytest.fixture(scope="module")
def refuted():
    return seeded(ib.ClampedLaplace(BOX, 1, scale=0.5), claimed_epsilon=1.0)


class RandomisedResponse:
    """Tells the truth with probability e^ε/(1+e^ε); counts how it is asked."""

    domain, sensitivity = BOX, 1.0

    def __init__(self, epsilon):
        self.epsilon = epsilon
        self.rng = np.random.default_rng(7)
        self.calls = self.outputs = 0

    def release(self, values):
        self.calls += 1
        self.outputs += values.size
        lies = self.rng.random(values.shape) > 1 / (1 + math.exp(-self.epsilon))
        return np.where(lies, 1 - np.round(values), np.round(values))

    def one(self, value):
        assert isinstance(value, float)
        return float(self.release(np.array([value]))[0])


def test_a_true_claim_passes_beside_its_certificate(passed):
    assert passed.passed
    assert 0.7 < passed.epsilon_lower <= passed.claimed_epsilon <= 1
    assert passed.certificate_epsilon <= passed.claimed_epsilon
    assert (passed.confidence, passed.delta) == (0.999, 0)


def test_a_false_claim_is_refuted(refuted):
    assert not refuted.passed
    assert 1.8 < refuted.epsilon_lower <= 2
    assert refuted.certificate_epsilon is None


def test_the_bound_follows_from_what_the_audit_reports(passed, refuted):
    for result in (passed, refuted):
        first, second = result.counts
        assert result.epsilon_lower == epsilon_lower_bound(
            first, second, result.trials, confidence=result.confidence, delta=result.delta
        )


def test_the_event_is_counted_in_fresh_outputs_at_the_pair(passed):
    assert passed.releases <= 200_000
    assert 2 * passed.trials < passed.releases  # some were spent on the choice
    assert sorted(passed.pair) == [0, 1]
    assert sum(map(sum, passed.histograms)) == passed.releases - 2 * passed.trials


def test_a_stranger_reproduces_the_counts_from_the_event():
    mechanism = RandomisedResponse(1.0)
    result = audit(mechanism, releases=100_000)
    own = np.random.default_rng(1)
    for value, count in zip(result.pair, result.counts, strict=True):
        truth = round(value)
        outputs = np.where(own.random(10**6) > 1 / (1 + math.exp(-1)), 1 - truth, truth)
        share = result.event.holds(outputs).mean()
        assert share == pytest.approx(count / result.trials, abs=0.02)


def test_json_holds_all_that_the_bound_is_computed_from(passed):
    facts = json.loads(passed.to_json())
    assert facts["passed"] is True
    assert facts["epsilon_lower"] == passed.epsilon_lower
    assert facts["event"] == dataclasses.asdict(passed.event)
    assert facts["counts"] == list(passed.counts)
    assert facts["pair"] == list(passed.pair)
    assert set(facts) == {
        *("passed", "mechanism", "epsilon_lower", "claimed_epsilon", "delta", "confidence"),
        *("certificate_epsilon", "pair", "event", "counts", "trials", "releases", "tried"),
    }


def test_the_table_says_claim_proof_finding_and_verdict(passed, refuted):
    text = io.StringIO()
    Console(file=text, width=120).print(passed)
    assert text.getvalue().split()[-20:] == str(passed).split()[-20:]
    for part in ("BoundedGaussian(Box(0, 1)", "claimed", "proved", "measured", str(passed.event)):
        assert part in str(passed)
    assert f"{passed.counts[0]:,} of {passed.trials:,}" in str(passed)
    assert "Not refuted" in str(passed)
    assert "REFUTED" in str(refuted)
    assert "proved" not in str(refuted)
    assert "REFUTED" in repr(refuted)
    assert "REFUTED" not in repr(passed)


def test_an_audit_is_frozen(passed):
    with pytest.raises(dataclasses.FrozenInstanceError):
        passed.epsilon_lower = 0.0


def test_a_foreign_object_is_asked_by_arrays_and_claims_by_itself():
    mechanism = RandomisedResponse(2.0)
    result = audit(mechanism, releases=50_000)
    assert result.passed
    assert result.claimed_epsilon == 2
    assert result.epsilon_lower > 1.8
    assert mechanism.calls < 20
    assert mechanism.outputs == result.releases


def test_a_leak_away_from_the_ends_and_the_middle_is_found_by_random_pairs():
    """Private where audits used to look, and nowhere else."""

    def polite(value):
        if value in (0.0, 0.1, 0.45, 0.55, 0.9, 1.0):
            return 0.5
        return value

    result = audit(polite, box=BOX, sensitivity=0.1, claimed_epsilon=1.0, releases=4000)
    assert not result.passed
    usual = audit(
        polite, box=BOX, sensitivity=0.1, claimed_epsilon=1.0, releases=4000, pair=(0.0, 0.1)
    )
    assert usual.passed


def test_an_audit_says_what_was_tried():
    own = audit(ib.ClampedLaplace(BOX, 0.5, scale=1.0), releases=2000)
    assert own.tried == (
        "pairs at both ends and in the middle; outputs below, above and near a threshold"
    )
    foreign = audit(RandomisedResponse(2.0), releases=2000)
    assert "the ends of the box and 6 random pairs" in foreign.tried
    assert foreign.tried in " ".join(str(foreign).split())
    assert json.loads(foreign.to_json())["tried"] == foreign.tried
    chosen = audit(RandomisedResponse(2.0), releases=2000, pair=(0, 1))
    assert chosen.tried.startswith("the pair that was given")


class Shaped:
    """Outputs of a box by a function of arrays."""

    def __init__(self, output, size=2, sensitivity=None):
        self.domain = ib.Box([0] * size, [1] * size)
        self.sensitivity = ib.L2(1) if sensitivity is None else sensitivity
        self.epsilon = 1.0
        self.release = output


NOISE = np.random.default_rng(31)


def hidden(values):
    return values + NOISE.laplace(0, 1e3, values.shape)


def test_what_a_box_was_looked_at_for_is_said():
    result = audit(Shaped(hidden), releases=2000)
    assert result.tried == (
        "pairs at both ends and in the middle and 6 random pairs in random directions and 2 pairs "
        "that differ in one coordinate, the same in every audit; weighted sums of the coordinates, "
        "by direction and by Fisher's discriminant, and coordinates alone, below, above and near a "
        "threshold"
    )
    own = audit(ib.ClampedLaplace(ib.Box([0, 0], [1, 1]), 1, scale=1.0), releases=2000)
    assert own.tried == (
        "pairs at both ends and in the middle; weighted sums of the coordinates below, above and "
        "near a threshold"
    )


def test_a_class_derived_from_ours_is_not_believed_to_be_ours():
    class Derived(ib.BoundedGaussian):
        def release(self, values, **_):
            return np.stack([values[..., 0], hidden(values[..., 1])], -1)

    mechanism = Derived.calibrated(ib.Box([0, 0], [1, 1]), 1, epsilon=1.0)
    result = audit(mechanism, releases=4000)
    assert not result.passed
    assert result.certificate_epsilon is None


def test_a_class_is_not_audited_in_place_of_its_instance():
    with pytest.raises(ArgumentTypeError, match=r"got the class Randomised\w+\.\nHint: pass an"):
        audit(RandomisedResponse, **CLAIM)


def test_a_function_is_asked_one_value_at_a_time():
    mechanism = RandomisedResponse(2.0)
    result = audit(mechanism.one, releases=20_000, **CLAIM)
    assert mechanism.calls == result.releases == 20_000
    assert not result.passed
    assert result.mechanism == "RandomisedResponse.one"


def test_a_function_of_arrays_can_be_named_as_such():
    mechanism = RandomisedResponse(2.0)
    audit(mechanism.release, releases=20_000, vectorized=True, **CLAIM)
    assert mechanism.calls < 20


def test_noise_shared_by_an_array_is_not_met_when_one_value_is_asked_at_a_time():
    """One draw for a whole array would be counted as many; functions are safe from it."""
    rng = np.random.default_rng(2)
    result = audit(lambda value: value + rng.laplace(), releases=20_000, **CLAIM)
    assert result.passed
    assert result.epsilon_lower > 0.7


def test_a_leak_at_the_value_itself_is_seen():
    rng = np.random.default_rng(4)
    result = audit(
        lambda value: value if rng.random() < 0.05 else rng.random(),
        pair=(0.3, 0.6),
        claimed_epsilon=1.0,
        releases=20_000,
    )
    assert not result.passed
    assert (result.event.kind, result.event.threshold) == ("near", 0)


def test_a_given_pair_is_the_one_that_is_tested():
    result = seeded(ib.BoundedLaplace(BOX, 0.5, scale=1.0), pair=(0.4, 0.8))
    assert sorted(result.pair) == [0.4, 0.8]


@pytest.mark.parametrize(
    ("kind", "scale"),
    [(ib.BoundedGaussian, 3.0), (ib.BoundedLaplace, 4.0), (ib.ClampedLaplace, 4.0)],
)
@pytest.mark.parametrize("sensitivity", [ib.PerCoordinate([4, 2]), ib.L1(4), ib.L2(4)], ids=repr)
def test_a_joint_release_is_audited_along_the_direction_that_tells_most(kind, scale, sensitivity):
    mechanism = kind(ib.Box([0, 1], [10, 9]), sensitivity, scale)
    result = seeded(mechanism)
    assert result.passed
    assert result.epsilon_lower > 0.5 * mechanism.epsilon
    assert len(result.event.weights) == len(result.pair[0]) == 2


def test_a_joint_release_with_too_little_noise_is_refuted():
    box, change = ib.Box([0, 1], [10, 9]), ib.PerCoordinate([4, 2])
    right = ib.BoundedGaussian.calibrated(box, change, epsilon=1.0)
    wrong = ib.BoundedGaussian(box, change, 0.5 * right.sigma)
    assert not seeded(wrong, claimed_epsilon=1.0).passed


def test_a_delta_is_tested_against_the_epsilon_at_that_delta():
    mechanism = ib.ClampedGaussian.calibrated(BOX, 0.1, epsilon=1.0, delta=1e-2)
    result = seeded(mechanism, delta=1e-2)
    assert result.claimed_epsilon == pytest.approx(1, rel=1e-5)
    assert result.passed
    assert result.epsilon_lower > 0.75
    assert not seeded(mechanism, 10**6).epsilon_lower <= 1  # it is not pure epsilon 1
    assert "δ = 0.01" in result.verdict()


def test_the_same_entropy_gives_the_same_audit():
    mechanism = ib.BoundedGaussian(BOX, 1, sigma=1.0)
    assert seeded(mechanism, 5000) == seeded(mechanism, 5000)


def test_outputs_are_drawn_in_blocks(monkeypatch):
    monkeypatch.setattr("inbounds.auditing.subject._BLOCK", 1 << 10)
    mechanism = RandomisedResponse(1.0)
    result = audit(mechanism, releases=100_000)
    assert mechanism.calls >= 97
    assert sum(result.counts) > 0


def test_the_bar_goes_to_standard_error(capsys):
    audit(RandomisedResponse(1.0), releases=2000, progress=True)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"releases": 999}, "releases must be a whole number from 1,000 to"),
        ({"releases": 10**15}, "releases must be a whole number from 1,000 to 1,000,000,000,000"),
        ({"releases": 1000.5}, "releases must be a whole number"),
        ({"confidence": 1.0}, "confidence must be"),
        ({"confidence": 0.4}, "confidence must be"),
        ({"delta": -1e-9}, "delta must be"),
        ({"delta": 1.0}, "delta must be below 1"),
        ({"claimed_epsilon": -1.0}, "claimed_epsilon must be"),
        ({"pair": (0, 2)}, "pair must lie in"),
    ],
)
def test_a_bad_argument_is_named(options, message):
    with pytest.raises(ArgumentError, match=message):
        audit(RandomisedResponse(1.0), **options)


def test_what_is_missing_is_named():
    with pytest.raises(ArgumentTypeError, match="mechanism must have a method release"):
        audit(3, **CLAIM)
    with pytest.raises(ArgumentTypeError, match="claimed_epsilon must be given"):
        audit(lambda value: value, box=BOX, sensitivity=1)
    with pytest.raises(ArgumentTypeError, match="box and sensitivity must be given, or pair"):
        audit(lambda value: value, claimed_epsilon=1.0, sensitivity=1)
    with pytest.raises(ArgumentTypeError, match="box must be a Box"):
        audit(lambda value: value, claimed_epsilon=1.0, box=(0, 1), sensitivity=1)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda values: values[:-1], "of the values' shape"),
        (lambda values: np.full_like(values, np.nan), "NaN"),
        (lambda values: np.full_like(values, np.inf), "finite numbers"),
    ],
)
def test_outputs_that_cannot_be_counted_are_refused(function, message):
    with pytest.raises(ArgumentError, match=message):
        audit(function, vectorized=True, **CLAIM)


def test_an_audit_is_printed_without_rich():
    code = (
        "import sys; sys.modules['rich'] = None; import inbounds as ib;"
        "print(ib.audit(ib.ClampedLaplace(ib.Box(0, 1), 1, scale=1.0), releases=1000))"
    )
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "Not refuted" in shown.stdout


def test_a_notebook_shows_the_name_of_any_mechanism_as_text(passed):
    page = dataclasses.replace(passed, mechanism="<script>alert(1)</script>")._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "Not refuted" in page
