import json
import re
import shlex

import pytest
import typer
from typer.testing import CliRunner

import inbounds as ib
from inbounds.accounting.composition import compose as add_up
from inbounds.cli import compose as command
from inbounds.cli.app import app
from inbounds.loss import PrivacyLoss

AGES = "bounds=0:120 sensitivity=2.5 epsilon=0.1 mechanism=bounded-gaussian times=100"


def compose(*args):
    return CliRunner().invoke(app, ["compose", *args])


def failure(*args):
    result = compose(*args)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.fixture(scope="module")
def ages():
    return ib.BoundedGaussian.calibrated(ib.Box(0, 120), 2.5, epsilon=0.1)


def test_json_holds_every_bound_and_the_best(ages):
    found = json.loads(compose("--delta", "1e-6", "--release", AGES, "--json").stdout)
    together = add_up([(ages, 100)])
    assert found["epsilons"] == together.epsilons(1e-6)
    assert found["epsilon"] == together.epsilon(1e-6)
    assert found["best"] == together.best(1e-6) == "PLD"
    assert (found["releases"], found["delta"]) == (100, 1e-6)
    assert found["pure_epsilon"] == together.pure
    assert (found["rho"], found["mu"]) == (together.rho, together.gdp)


def test_options_say_the_same_as_one_release():
    options = ["--bounds", "0:120", "--sensitivity", "2.5", "--epsilon", "0.1", "--times", "100"]
    options += ["--mechanism", "bounded-gaussian"]
    one, other = (
        compose("--delta", "1e-6", "--json", *args) for args in (options, ["--release", AGES])
    )
    assert one.exit_code == 0
    assert one.stdout == other.stdout


def test_the_default_mechanism_is_the_one_that_release_takes():
    text = "bounds=0:1 sensitivity=0.5 epsilon=1 times=3"
    best = ib.calibrate(ib.Box(0, 1), 0.5, epsilon=1.0)
    assert command.read(text) == (best, 3)
    worst = ib.Optimal(ib.Box(0, 1), 0.5, 1.0, "worst")
    assert command.read(f"{text} mechanism=optimal objective=worst") == (worst, 3)
    assert command.read(f"{text} objective=worst") == (worst, 3)
    assert "objective needs bounds" in failure("--delta", "0", "--release", "objective=worst")
    (stepped, _), (plain, _) = command.read(f"{text} step=1"), command.read(text)
    assert stepped == ib.calibrate(ib.Box(0, 1, step=1), 0.5, epsilon=1.0) != plain
    options = ["--bounds", "0:1", "--sensitivity", "0.5", "--epsilon", "1", "--times", "3"]
    one, other = (
        compose("--delta", "0.1", "--json", *args).stdout
        for args in ([*options, "--step", "1"], ["--release", f"{text} step=1"])
    )
    assert one == other != compose("--delta", "0.1", "--json", *options).stdout


def test_the_table_shows_every_bound_and_marks_the_cost():
    text = compose("--delta", "1e-6", "--release", AGES).stdout
    assert all(bound in text for bound in ("basic", "optimal pure", "zCDP", "GDP", "PLD"))
    (marked,) = [line for line in text.splitlines() if "the cost" in line]
    assert "PLD" in marked
    assert "100 releases together, at δ = 1e-06" in text


def test_several_kinds_of_release_are_added_up(ages):
    result = compose(
        "--delta", "1e-6", "--json", "--release", AGES,
        "--release", "bounds=0:10,1:9 sensitivity=4,2 epsilon=0.5 mechanism=bounded-gaussian",
        "--release", "bounds=0:1 sensitivity=0.1 norm=l1 epsilon=0.2 mechanism=clamped-laplace",
        "--release", "epsilon=0.2 times=2",
    )  # fmt: skip
    joint = ib.BoundedGaussian.calibrated(
        ib.Box([0, 1], [10, 9]), ib.PerCoordinate([4, 2]), epsilon=0.5
    )
    laplace = ib.ClampedLaplace.calibrated(ib.Box(0, 1), ib.L1(0.1), epsilon=0.2)
    together = add_up([(ages, 100), joint, laplace, (PrivacyLoss.pure(0.2), 2)])
    found = json.loads(result.stdout)
    assert found["releases"] == 104
    assert found["epsilons"] == together.epsilons(1e-6)


@pytest.mark.parametrize(
    ("text", "loss"),
    [
        ("epsilon=0.5", PrivacyLoss.pure(0.5)),
        ("epsilon=0.5 delta=1e-6", PrivacyLoss.approximate(0.5, 1e-6)),
        ("rho=0.1", PrivacyLoss.concentrated(0.1)),
    ],
)
def test_of_a_release_without_bounds_only_its_privacy_is_known(text, loss):
    assert command.read(text) == (loss, 1)


def test_without_delta_pure_epsilons_add_up():
    found = json.loads(compose("--delta", "0", "--release", "epsilon=0.5 times=4", "--json").stdout)
    assert found["epsilons"] == {"basic": pytest.approx(2.0)}
    assert found["best"] == "basic"


def test_what_is_not_finite_is_null_in_json():
    result = compose("--delta", "1e-6", "--release", "rho=0.1", "--json")
    assert json.loads(result.stdout)["pure_epsilon"] is None


def test_one_kind_of_release_is_drawn(tmp_path):
    path = tmp_path / "cost.svg"
    text = AGES.replace("times=100", "times=10")
    assert compose("--delta", "1e-6", "--release", text, "--plot", str(path)).exit_code == 0
    assert b"<svg" in path.read_bytes()


@pytest.mark.parametrize("release", ["epsilon=1", f"{AGES}|epsilon=1"])
def test_what_cannot_be_drawn_is_refused(release, tmp_path):
    args = [part for text in release.split("|") for part in ("--release", text)]
    path = tmp_path / "cost.svg"
    assert "only one kind of release can be drawn" in failure(
        "--delta", "1e-6", *args, "--plot", str(path)
    )
    assert not path.exists()
    assert "← the cost" in compose("--delta", "1e-6", *args, "--plot", str(path)).stdout


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("epsilon", "must be KEY=VALUE"),
        ("epsilon=", "must be KEY=VALUE"),
        ("sigma=1", "must be KEY=VALUE"),
        ("epsilon=1 epsilon=2", "must be KEY=VALUE"),
        ("epsilon=one", "epsilon must be a number, got 'one'"),
        ("epsilon=-1", "epsilon= must be"),
        ("epsilon=0 delta=0", "epsilon= must be positive"),
        ("epsilon=1 rho=1", "epsilon= or rho= must be given, but not both, got both"),
        ("times=3", "epsilon= or rho= must be given, but not both, got neither"),
        ("epsilon=1 times=0", "times must be a whole number"),
        ("epsilon=1 times=1.5", "times must be a whole number"),
        ("epsilon=1 times=" + "9" * 20, "a whole number from 1 to 999999999999999, got"),
        ("epsilon=1 sensitivity=1", "sensitivity needs bounds as well"),
        ("epsilon=1 bounds=0:1", "bounds needs sensitivity as well"),
        ("epsilon=1 bounds=0-1 sensitivity=1", "must be two numbers LOW:HIGH"),
        ("epsilon=1 bounds=0:1 sensitivity=x", "sensitivity must be a number"),
        ("epsilon=1 bounds=0:1 sensitivity=1 mechanism=uniform", "no mechanism 'uniform'"),
        ("epsilon=1 bounds=0:1 sensitivity=1 norm=l3", "no norm 'l3'"),
        ("epsilon=1 bounds=5:1 sensitivity=1", "--release: bounds: upper must be above lower"),
        ("epsilon=1 bounds=0:1 sensitivity=-1", "--release: sensitivity= must be positive"),
        ("epsilon=1 delta=2 bounds=0:1 sensitivity=1", "--release: delta= must be"),
        (
            "epsilon=1 delta=1e-6 bounds=0:1 sensitivity=1 mechanism=bounded-laplace",
            "delta= must not be given with the mechanism bounded-laplace",
        ),
        (
            "epsilon=1 bounds=0:1 sensitivity=1 mechanism=clamped-gaussian",
            "--release: delta= must be given with the mechanism clamped-gaussian.",
        ),
        ("", "epsilon= or rho= must be given, but not both, got neither"),
    ],
)
def test_a_release_that_cannot_be_read_is_named(text, says):
    message = failure("--delta", "1e-6", "--release", text)
    assert says in message
    assert set(re.findall(r"--\w+", message)) == {"--release"}


def test_the_largest_number_of_times_is_taken():
    assert command.read("epsilon=1 times=" + "9" * 15)[1] == 10**15 - 1


def test_a_clamped_gaussian_needs_a_delta_of_its_own():
    options = ["--bounds", "0:1", "--sensitivity", "1", "--epsilon", "1"]
    message = failure("--delta", "1e-6", *options, "--mechanism", "clamped-gaussian")
    assert "must be in --release, with its own delta=" in message
    text = "bounds=0:1 sensitivity=1 epsilon=1 delta=1e-7 mechanism=clamped-gaussian"
    assert compose("--delta", "1e-6", "--release", text).exit_code == 0


def test_no_release_at_all_is_refused():
    assert "at least one must be given" in failure("--delta", "1e-6")


@pytest.mark.parametrize("delta", ["1", "-1e-6", "nan"])
def test_delta_must_be_a_probability_below_one(delta):
    assert "--delta must be" in failure(f"--delta={delta}", "--release", "epsilon=1")


def test_the_examples_run():
    lines = command.EXAMPLES.replace("\\\n", "").splitlines()
    examples = [line for line in lines if line.startswith("$ inbounds compose")]
    assert len(examples) == 4
    for example in examples[:2]:
        assert compose(*shlex.split(example)[3:]).exit_code == 0


def test_read_raises_what_typer_shows():
    with pytest.raises(typer.BadParameter, match="KEY=VALUE"):
        command.read("nonsense")
