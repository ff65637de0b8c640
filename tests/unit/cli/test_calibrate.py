import json

import pytest
from typer.testing import CliRunner

import inbounds as ib
from inbounds.cli.app import app

BEST = ["--bounds", "0:120", "--sensitivity", "30", "--epsilon", "1"]
GAUSSIAN = ["--mechanism", "bounded-gaussian"]
AGE = ["--bounds", "0:120", "--sensitivity", "2.5", "--epsilon", "1", *GAUSSIAN]
GRAPH = ["--bounds", "0:10", "--bounds", "1:9", "--sensitivity", "4", "--sensitivity", "2"]


def calibrate(*args):
    return CliRunner().invoke(app, ["calibrate", *args])


def facts(*args):
    result = calibrate(*args, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_the_table_shows_scale_error_and_proof():
    text = calibrate(*AGE).stdout
    m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0)
    assert f"{m.sigma:.6g}" in text
    assert f"{m.mse(60.0) ** 0.5:.3g}"[:4] in text
    assert "checked again" in text
    assert "28.0484 to 91.9516" in text


def test_the_default_is_the_best_mechanism_and_its_table_is_proved_in_integers(tmp_path):
    path = tmp_path / "proof.json"
    text = calibrate(*BEST, "--certificate", str(path)).stdout
    assert "Optimal on Box(0, 120)" in text
    assert "at most 1, proved in integers, checked again" in text
    assert ib.TableCertificate.from_json(path.read_text()).check().epsilon == 1
    found = facts(*BEST)
    assert (found["mechanism"], found["scale"]) == ("optimal", None)
    assert found["certificate"]["arithmetic"] == "integers"


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        ([], {}),
        (["--criterion", "worst_rmse"], {"criterion": "worst_rmse"}),
        (["--inside"], {"inside": True}),
        (["--people", "10000"], {"people": 10_000}),
    ],
)
def test_what_counts_as_the_best_is_heeded(options, chosen):
    best = ib.calibrate(ib.Box(0, 120), 30, epsilon=1.0, **chosen)
    found = facts(*BEST, *options)
    assert found["mechanism"] == "optimal"
    assert found["interval_95_at_middle"]["low"] == best.output_interval(60.0, 0.95)[0]


def test_the_error_of_a_mean_of_people_is_shown_for_any_mechanism():
    for mechanism in ("best", "window"):
        found = facts(*BEST, "--people", "10000", "--mechanism", mechanism)
        assert found["error"]["mean_rmse"] < found["error"]["average_rmse"] / 10
        assert found["beats_the_middle"]
    text = calibrate(*BEST, "--people", "10000").stdout
    assert "RMSE of their mean" in text
    assert "RMSE of their mean" not in calibrate(*BEST).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--inside", *GAUSSIAN], "--inside must not be given with the mechanism bounded-gaussian"),
        (["--people", "9", "--bounds", "0:1"], "--people must be left out on a box of several"),
        (["--people", "0", *GAUSSIAN], "--people must be a whole number from 1 to"),
        (["--criterion", "mean_rmse"], "--criterion must not be 'mean_rmse' unless people is"),
    ],
)
def test_options_that_make_no_sense_together_are_refused(options, message):
    result = calibrate(*BEST, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_json_holds_the_calibrated_mechanism():
    found = facts(*AGE)
    m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0)
    assert found["mechanism"] == "bounded-gaussian"
    assert found["scale"] == m.sigma
    assert found["pure_epsilon"] == m.epsilon <= 1
    assert found["bounds"] == [[0, 120]]
    assert found["requested"] == {"epsilon": 1}
    assert found["certificate"]["checked"]
    assert found["certificate"]["epsilon"] <= m.epsilon
    span = found["interval_95_at_middle"]
    assert (span["low"], span["high"]) == m.output_interval(60.0, 0.95)
    assert 0 < found["error"]["average_rmse"] <= found["error"]["worst_rmse"]


@pytest.mark.parametrize(("given", "value"), [("7", 7.0), ("-3", 0.0), ("1e9", 120.0)])
def test_outputs_are_described_for_a_made_up_value(given, value):
    found = facts(*AGE, f"--value={given}")
    m = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 2.5, epsilon=1.0)
    low, high = m.output_interval(value, 0.95)
    assert found["interval_95_at_value"] == {"value": value, "low": low, "high": high}
    assert "interval_95_at_middle" not in found
    assert f"for a value of {value:g}" in calibrate(*AGE, f"--value={given}").stdout


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((*AGE, "--value", "1", "--value", "2"), "once per coordinate, got 2 for 1"),
        ((*GRAPH, "--epsilon", "1", "--value", "1"), "once per coordinate, got 1 for 2"),
        ((*AGE, "--value", "nan"), "--value must be a number"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(arguments, reason):
    result = calibrate(*arguments)
    assert result.exit_code == 2
    assert reason in " ".join(result.stderr.split())


def test_a_budget_that_hardly_beats_the_middle_is_told():
    """Within 1 %, as `compare` says."""
    found = facts(*BEST[:4], "--epsilon", "0.05")
    ratio = found["error"]["average_rmse"] / found["middle_of_the_box_rmse"]
    assert 0.99 < ratio < 1
    assert not found["beats_the_middle"]
    assert "not clearly more" in " ".join(calibrate(*BEST[:4], "--epsilon", "0.05").stdout.split())


@pytest.mark.parametrize(("method", "square"), [("exact", 31.7), ("liu", 132.0)])
def test_the_method_is_heeded(method, square):
    assert facts(*GRAPH, "--epsilon", "1", "--method", method)["scale"] ** 2 == pytest.approx(
        square, abs=0.05
    )


def test_width_scaling_gives_a_scale_for_each_coordinate():
    first, second = facts(*GRAPH[:4], *AGE[2:6], "--scaling", "width")["scale"]
    assert first / second == pytest.approx(10 / 8)


def test_a_delta_lowers_the_scale_and_is_kept():
    args = ["--bounds", "0:100", "--sensitivity", "1", "--epsilon", "1", *GAUSSIAN]
    found = facts(*args, "--delta", "1e-6")
    assert found["scale"] < facts(*args)["scale"]
    assert 0.99 < found["epsilon_at_delta"] <= 1
    assert found["pure_epsilon"] > 1


def test_rho_is_given_in_place_of_epsilon():
    found = facts("--bounds", "0:100", "--sensitivity", "1", "--rho", "0.1")
    assert 0.09 < found["rho"] <= 0.1
    assert found["requested"] == {"rho": 0.1}


@pytest.mark.parametrize(
    ("mechanism", "proved"),
    [
        *(("bounded-laplace", True), ("clamped-laplace", False), ("clamped-gaussian", False)),
        *(("clamped-staircase", False), ("window", False)),
    ],
)
def test_other_mechanisms_are_calibrated_too(mechanism, proved):
    extra = ["--delta", "1e-6"] if mechanism == "clamped-gaussian" else []
    found = facts(*BEST, "--mechanism", mechanism, *extra)
    assert found["mechanism"] == mechanism
    assert (found["certificate"] is not None) == proved
    assert "none for this" in calibrate(*BEST, "--mechanism", mechanism, *extra).stdout or proved


def test_negative_bounds_and_scientific_notation_are_read():
    for bounds in (["--bounds=-5e0:5"], ["--bounds", "-5:5.0"]):
        assert facts(*bounds, "--sensitivity", "1e-1", "--epsilon", "1e0")["bounds"] == [[-5, 5]]


def test_the_certificate_is_written_and_proves_itself(tmp_path):
    path = tmp_path / "proof.json"
    assert calibrate(*AGE, "--certificate", str(path)).exit_code == 0
    proof = ib.Certificate.from_json(path.read_text())
    proof.check()
    assert proof.epsilon <= 1


def test_a_proof_that_fails_its_check_is_a_failure(monkeypatch, tmp_path):
    def refuse(_):
        raise ib.CertificateError("not proved.")

    monkeypatch.setattr(ib.Certificate, "check", refuse)
    result = calibrate(*AGE, "--certificate", str(tmp_path / "proof.json"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "Error: not proved.\n"
    assert list(tmp_path.iterdir()) == []


def test_a_long_proof_is_checked_again_only_where_it_is_asked_for(monkeypatch, tmp_path):
    checked = []

    def check(proof):
        checked.append(proof)

    monkeypatch.setattr(ib.Certificate, "check", check)
    monkeypatch.setattr("inbounds.cli.calibrate._CHECKED", 1)
    args, path = (*GRAPH, "--epsilon", "1", *GAUSSIAN), tmp_path / "proof.json"
    assert facts(*args)["certificate"]["checked"] is False
    assert "not checked again" in calibrate(*args).stdout
    assert checked == []
    assert facts(*args, "--certificate", str(path))["certificate"]["checked"] is True
    assert len(checked) == 1
    assert facts(*AGE)["certificate"]["checked"] is True
    assert len(checked) == 2


@pytest.mark.parametrize(
    ("privacy", "other"),
    [
        (["--epsilon", "1"], None),
        (["--epsilon", "1", "--delta", "1e-6"], "ε at δ"),
        (["--rho", "0.1"], "ρ"),
    ],
)
def test_the_certificate_is_said_to_be_of_the_pure_epsilon(privacy, other):
    lines = calibrate(*AGE[:4], *privacy, *GAUSSIAN).stdout.splitlines()
    (line,) = [line for line in lines if "proved" in line]
    assert "pure ε, certified" in line
    assert (f"; {other} has no certificate" in line) == ("certificate" in line) == bool(other)


def test_a_clamped_gaussian_without_delta_is_told_of_the_exact_method():
    args = [*AGE, "--mechanism", "clamped-gaussian"]
    assert "Hint: --method exact" in calibrate(*args).stderr
    assert facts(*args, "--method", "exact")["pure_epsilon"] <= 1


def test_a_certificate_that_does_not_exist_is_a_usage_error(tmp_path):
    path = tmp_path / "proof.json"
    result = calibrate(*AGE, "--mechanism", "clamped-laplace", "--certificate", str(path))
    assert result.exit_code == 2
    assert "--certificate must not be given" in result.stderr
    assert not path.exists()


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.PDF", b"%PDF")])
def test_the_distribution_is_drawn(tmp_path, name, start):
    path = tmp_path / name
    assert calibrate(*GRAPH, "--epsilon", "1", "--plot", str(path)).exit_code == 0
    assert path.read_bytes().startswith(start)


def test_an_unknown_kind_of_picture_is_refused_before_the_work(tmp_path):
    result = calibrate(*AGE, "--plot", str(tmp_path / "a.xyz"))
    assert result.exit_code == 2
    assert "--plot" in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["--bounds", "0:120", "--sensitivity", "1"], "--epsilon"),
        (["--bounds", "5:1", "--sensitivity", "1", "--epsilon", "1"], "--bounds"),
        (["--bounds", "0:1", "--sensitivity", "-1", "--epsilon", "1"], "--sensitivity"),
        (["--bounds", "0:1", "--sensitivity", "1", "--epsilon", "0"], "--epsilon"),
        (["--bounds", "0:1", "--sensitivity", "1", "--epsilon", "nan"], "--epsilon"),
        (["--bounds", "0:1", "--sensitivity", "1", "--epsilon", "one"], "--epsilon"),
        (["--bounds", "0:1", "--sensitivity", "1", "--epsilon", "1", "--delta", "2"], "--delta"),
        (["--bounds", "0:1", "--sensitivity", "1", "--rho", "-1"], "--rho"),
        (["--bounds", "0:1", "--sensitivity", "1", "--epsilon", "1", "--step", "5"], "--step"),
        ([*AGE, "--method", "guess"], "--method"),
        ([*AGE, "--method", "analytic"], "--method"),
        ([*AGE, "--mechanism", "magic"], "--mechanism"),
        ([*AGE, "--bounds", "0:1", "--method", "liu"], "--norm linf"),
        ([*AGE, "--scaling", "depth"], "--scaling"),
        ([*AGE, "--mechanism", "clamped-gaussian"], "--delta"),
    ],
)
def test_a_bad_option_is_named_in_one_line(args, named):
    result = calibrate(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert named in result.stderr
