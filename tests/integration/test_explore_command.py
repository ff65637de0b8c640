"""`inbounds explore` as a process: its address, its end, its files, and what it leaves behind."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from concurrent import futures
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import inbounds as ib
from inbounds.cli.explore.keys import pass_of

from .explore_server import COMMAND, framed, started, until

CSV = b"age,town,pay\n41,Ulm,12.5\n7,Rom,99\n55,Ulm,3\n"
AGE = {"name": "age", "bounds": [0, 120], "step": 1, "epsilon": 0.5}
QUESTION = {"bounds": [[0, 120]], "sensitivity": [2.5], "guarantee": {"epsilon": 1, "delta": 0}}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with started(tmp_path_factory.mktemp("explore")) as server:
        yield server


@pytest.fixture
def with_ledger(tmp_path):
    ib.Ledger(tmp_path / "budget.db").open("-survey", epsilon=3.0)
    with started(tmp_path, "--ledger", "budget.db") as server:
        yield server


def test_the_address_is_alone_on_a_line_and_answers_at_once(tmp_path):
    with started(tmp_path) as server:
        with urllib.request.urlopen(server.origin + "/", timeout=10) as answer:
            assert answer.status == 200
            assert b"<script" in answer.read()
        assert server.line == f"http://127.0.0.1:{server.port}/#token={server.token}\n"
        assert len(server.token) >= 43
        assert server.end()[0] == 0
        assert server.printed().decode().count("http://") == 1


def test_every_start_has_another_token(tmp_path, server):
    with started(tmp_path) as other:
        assert other.token != server.token
        assert other.ask("/api/ledger", {}, x_inbounds_pass=pass_of(server.token)).status == 401


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_with_exit_code_0_and_nothing_left(tmp_path, kind):
    with started(tmp_path) as server:
        code, seconds = server.end(kind)
        assert (code, server.processes(), server.left()) == (0, [], [])
        assert seconds < 2
        assert b"Traceback" not in server.printed()


def test_open_connections_do_not_delay_the_end(tmp_path):
    with started(tmp_path) as server, server.connected() as idle, server.connected() as busy:
        idle.sendall(b"GET / HTTP/1.1\r\n")
        busy.sendall(b"POST /api/view HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\n")
        code, seconds = server.end()
        assert code == 0
        assert seconds < 2


def test_a_regime_map_that_is_computed_ends_with_the_server(tmp_path):
    with started(tmp_path) as server:
        assert server.ask("/api/regimes", {"delta": 1e-6}).json["state"] == "computing"
        assert len(server.processes()) == 2
        code, seconds = server.end(signal.SIGINT)
        assert (code, server.processes(), server.left()) == (0, [], [])
        assert seconds < 2


def test_a_computation_that_does_not_end_ends_with_the_server(tmp_path):
    script = (
        "import sys, time\nfrom inbounds.cli import main\nfrom inbounds.cli.explore import page\n"
        "page._simulated = lambda asked: time.sleep(60)\n"
        "sys.exit(main(['explore', '--no-browser']))"
    )
    with started(tmp_path, command=(sys.executable, "-c", script)) as server:
        with server.connected() as waiting:
            headers = server.headers(content_length="2")
            lines = [f"{name}: {text}" for name, text in headers.items()]
            lines = ["POST /api/file/simulate HTTP/1.1", *lines, "", "{}"]
            waiting.sendall("\r\n".join(lines).encode())
            assert server.ask("/api/ledger", {}).status == 200
            time.sleep(0.2)
            code, seconds = server.end()
        assert (code, server.processes(), server.left()) == (0, [], [])
        assert seconds < 2
        assert b"Traceback" not in server.printed()


def large(rows=3_000_000):
    return b"age\n" + b"41\n7\n55\n" * (rows // 3)


def begun(server, path="/api/file/draw"):
    """Send a large file, and return the open connection once something is drawn from it."""
    body = server.sealed(path, framed({"name": "people.csv", "columns": [AGE]}, large()))
    headers = server.headers(content_type="application/octet-stream")
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {text}" for name, text in headers.items())]
    connection = server.connected()
    connection.sendall(
        "\r\n".join([*lines, f"content-length: {len(body)}", "", ""]).encode() + body
    )
    assert until(lambda: len(server.processes()) == 2)
    return connection


def test_a_file_that_is_drawn_from_ends_with_the_server(tmp_path):
    with started(tmp_path) as server, begun(server):
        assert any(path.name == "people.csv" for path in server.left())
        code, seconds = server.end()
        assert (code, server.processes(), server.left()) == (0, [], [])
        assert seconds < 2
        assert b"Traceback" not in server.printed()


def test_a_client_that_goes_away_leaves_no_process_and_no_file(tmp_path):
    with started(tmp_path) as server:
        begun(server).close()
        assert until(lambda: len(server.processes()) == 1)
        assert until(lambda: not [path for path in server.left() if path.is_file()])
        assert server.send_file("/api/file/columns", {"name": "a.csv"}, CSV).status == 200


def test_one_file_is_drawn_from_at_a_time(tmp_path):
    with started(tmp_path) as server, begun(server) as first, server.connected() as second:
        body = framed({"name": "other.csv", "columns": [AGE]}, CSV)
        body = server.sealed("/api/file/draw", body)
        headers = server.headers(content_type="application/octet-stream")
        lines = ["POST /api/file/draw HTTP/1.1", *(f"{n}: {v}" for n, v in headers.items())]
        lines += [f"content-length: {len(body)}", "", ""]
        second.sendall("\r\n".join(lines).encode() + body)
        time.sleep(0.5)
        assert len(server.processes()) == 2
        assert not any(path.name == "other.csv" for path in server.left())
        first.close()
        assert second.recv(15) == b"HTTP/1.1 200 OK"


def test_files_are_in_a_folder_for_this_user_alone(tmp_path):
    with started(tmp_path) as server, begun(server):
        for path in server.left():
            assert path.stat().st_mode & 0o077 == 0, path


def test_a_busy_port_is_one_clear_line(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [*COMMAND, "--port", str(port)],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"Error: --port must be a free port, got {port}: address already in use. "
        "Hint: --port 0 takes a free one.\n"
    )


def test_a_port_that_was_just_left_can_be_taken_again(tmp_path):
    with started(tmp_path) as first, first.connected():
        assert first.ask("/", method="GET").status == 200
        first.end()
    with started(tmp_path, "--port", str(first.port)) as second:
        assert second.port == first.port


def test_a_missing_package_is_one_line_that_names_the_extra(tmp_path):
    script = "import sys; sys.modules['uvicorn'] = None\nfrom inbounds.cli import main\n"
    script += "sys.exit(main(['explore', '--no-browser']))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "Error: this needs the package uvicorn, which is not installed. "
        "Hint: pip install 'inbounds[explore]'\n"
    )


def test_a_browser_is_opened_without_the_token_among_its_arguments(tmp_path):
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/argument\nsleep 30\n')
    browser.chmod(0o700)
    command = tuple(word for word in COMMAND if word != "--no-browser")
    os.environ["BROWSER"] = f"{browser} %s"
    try:
        with started(tmp_path, command=command) as server:
            assert until((tmp_path / "argument").exists)
            assert until(lambda: (tmp_path / "argument").read_text().endswith("\n"))
            argument = (tmp_path / "argument").read_text().strip()
            page = Path(argument.removeprefix("file://"))
            assert server.token not in argument
            assert page.stat().st_mode & 0o077 == 0
            assert f'url={server.address}"' in page.read_text()
            code, seconds = server.end()  # though the browser blocks
            assert code == 0
            assert seconds < 2
            assert server.left() == []
    finally:
        del os.environ["BROWSER"]


def test_the_names_and_types_of_columns_are_read_and_nothing_else(server, tmp_path):
    table = pa.table({"age": [41], "smoker": [True], "town": ["Ulm"], "day": [[1, 2]]})
    pq.write_table(table, tmp_path / "people.parquet")
    data = (tmp_path / "people.parquet").read_bytes()
    answer = server.send_file("/api/file/columns", {"name": "people.parquet"}, data)
    types = {"age": "number", "smoker": "yes/no", "town": "text", "day": "other"}
    assert answer.json["columns"] == [{"name": n, "type": t} for n, t in types.items()]
    semicolons = CSV.replace(b",", b";")
    answer = server.send_file("/api/file/columns", {"name": "a.csv", "delimiter": ";"}, semicolons)
    assert [column["name"] for column in answer.json["columns"]] == ["age", "town", "pay"]


def test_a_private_copy_and_its_sidecar_come_back(server):
    head = {"name": "people.csv", "columns": [AGE], "shuffle": True, "mechanism": "window"}
    head["levels"] = [{"name": "town", "levels": ["Ulm", "Rom, Georgia"], "epsilon": 0.5}]
    rome = CSV.replace(b"Rom", b'"Rom, Georgia"')
    facts, files = server.send_file("/api/file/draw", head, rome).files()
    assert list(files) == ["people.private.csv", "people.private.csv.privacy.json"]
    assert files["people.private.csv"].startswith(b"age,town,pay\n")
    sidecar = json.loads(files["people.private.csv.privacy.json"])
    assert sidecar["row"]["requested"] == {"epsilon": 1.0}
    assert sidecar["output"] == "people.private.csv"
    assert facts["statement"].startswith("Privacy: 3 rows at epsilon=1 each")
    assert facts["command"] == (
        "inbounds privatize people.csv people.private.csv --column=age=0:120:1@0.5 "
        """'--levels="town"="Ulm","Rom, Georgia"@0.5' --nulls=error --mechanism=window --shuffle"""
    )
    assert facts["charged"] is None


def test_what_the_page_drew_estimate_reads(server, tmp_path):
    facts, files = server.send_file(
        "/api/file/draw", {"name": "people.csv", "columns": [AGE]}, large(3000)
    ).files()
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-m", "inbounds", "estimate", "people.private.csv"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert facts["warnings"] == []


NAMES = ["-x", "--force", "a=b", "a:b@1", "a,b", "a\nb", 'say "a"', "{a}", "  ", "ε", "$(id)", "'"]


def test_any_name_of_a_column_is_that_of_the_column(server):
    quoted = ['"{}"'.format(name.replace('"', '""')) for name in NAMES]
    data = ("\n".join([",".join(quoted), *[",".join(["7"] * len(NAMES))] * 2]) + "\n").encode()
    columns = server.send_file("/api/file/columns", {"name": "a.csv"}, data).json["columns"]
    assert [column["name"] for column in columns] == NAMES
    head = {"name": "a.csv", "columns": [AGE | {"name": name} for name in NAMES[2:]]}
    head["levels"] = [{"name": name, "levels": ["7", name], "epsilon": 1} for name in NAMES[:2]]
    _, files = server.send_file("/api/file/draw", head, data).files()
    sidecar = json.loads(files["a.private.csv.privacy.json"])
    assert [column["name"] for column in sidecar["columns"]] == NAMES[2:] + NAMES[:2]


def test_any_name_of_a_group_is_that_of_the_group(server):
    means = [{"name": name, "bounds": [0, 120]} for name in NAMES[1:]]
    data = ",".join('"{}"'.format(name.replace('"', '""')) for name in NAMES)
    data = f"{data}\n{','.join(['7'] * len(NAMES))}\n".encode()
    head = {"name": "a.csv", "statistics": {"mean": means}, "by": NAMES[:1], "epsilon": 1}
    head["groups"] = [[name] for name in [*NAMES, 'a:b,"c"\n']]
    facts, _ = server.send_file("/api/file/summarize", head, data).files()
    table = facts["table"]
    assert table["columns"][0] == NAMES[0]
    rows = [(group, *row[:3]) for (group,) in head["groups"] for row in table["rows"]
            if row[0] == group]  # fmt: skip
    assert [row[3] for row in rows] == NAMES[1:] * len(head["groups"])


@pytest.mark.parametrize("name", ["-x.csv", "$(id) ε.csv", ".csv.csv"])
def test_any_name_of_a_file_is_only_a_name(server, name):
    _, files = server.send_file("/api/file/draw", {"name": name, "columns": [AGE]}, CSV).files()
    assert next(iter(files)) == f"{name.removesuffix('.csv')}.private.csv"
    wrong = {"name": name, "columns": [AGE | {"name": "town"}]}
    answer = server.send_file("/api/file/draw", wrong, CSV)
    reason = f"{name}: column 'town' must have a number in row 1 below the header. "
    assert answer.error.startswith(reason)


def test_statistics_of_groups_come_back_as_a_table(server):
    head = {
        "name": "people.csv",
        "statistics": {
            "count": True,
            "mean": [{"name": "age", "bounds": [0, 120]}],
            "median": [{"name": "age", "bounds": [0, 120], "step": 1}],
            "total": [{"name": "pay", "bounds": [0, 100]}],
            "histogram": [{"name": "pay", "bounds": [0, 100], "bins": 2}],
        },
        "by": ["town"],
        "groups": [["Ulm"], ["Rom"]],
        "epsilon": 1,
        "delta": 1e-6,
        "adjacency": "add-remove",
        "rows": 1,
        "size": 10,
        "nulls": "skip",
    }
    facts, files = server.send_file("/api/file/summarize", head, CSV).files()
    assert list(files) == ["people.summary.csv"]
    table = facts["table"]
    assert table["columns"] == files["people.summary.csv"].decode().splitlines()[0].split(",")
    assert [row[:2] for row in table["rows"][:3]] == [
        ["Ulm", s] for s in ("count", "mean", "total")
    ]
    assert all(isinstance(row[table["columns"].index("value")], float) for row in table["rows"])
    assert "--groups=Ulm,Rom" in facts["command"]
    assert facts["statement"].startswith("Privacy: one release at epsilon=1, delta=1e-06")


def charge(head, dataset="-survey"):
    return head | {"charge": {"dataset": dataset, "label": "--json"}}


def test_a_draw_is_charged_before_and_says_what_is_left(with_ledger):
    server = with_ledger
    head = charge({"name": "people.csv", "columns": [AGE]})
    facts, _ = server.send_file("/api/file/draw", head, CSV).files()
    assert facts["charged"] == "-survey: epsilon=2.5 left of epsilon=3."
    ledger = server.said.with_name("budget.db")
    assert facts["command"] == (
        f"inbounds ledger spend --ledger={ledger} --epsilon=0.5 --unit=replace:row --label=--json "
        "-- -survey && inbounds privatize people.csv people.private.csv --column=age=0:120:1@0.5 "
        "--nulls=error"
    )
    statistics = {"name": "people.csv", "statistics": {"count": True}, "epsilon": 1}
    statistics |= {"by": ["town"], "groups": [["Ulm"]]}
    facts, _ = server.send_file("/api/file/summarize", charge(statistics), CSV).files()
    assert facts["charged"] == "-survey: epsilon=1.5 left of epsilon=3."
    assert f"inbounds summarize --ledger={ledger} people.csv " in facts["command"]
    assert "--dataset=-survey --label=--json" in facts["command"]
    (dataset,) = server.ask("/api/ledger", {}).json["datasets"]
    assert dataset == {
        "dataset": "-survey",
        "budget": "epsilon=3",
        "spent": "epsilon=1.5",
        "remaining": "epsilon=1.5",
        "fraction_spent": 0.5,
        "unit": "replace one row",
        "for_rows": True,
        "for_summaries": True,
        "entries": 2,
    }
    labels = [r["label"] for r in ib.Ledger(server.said.with_name("budget.db")).records("-survey")]
    assert labels == ["--json", "--json"]


def test_a_draw_that_fails_after_the_charge_says_so(with_ledger):
    """Something removes the file at the moment of the charge."""
    ledger = ib.Ledger(with_ledger.said.with_name("budget.db"))

    def remove():
        assert until(lambda: ledger.records("-survey"), 60)
        for path in with_ledger.temporary.rglob("people.csv"):
            path.unlink()

    with futures.ThreadPoolExecutor() as pool:
        removal = pool.submit(remove)
        head = charge({"name": "people.csv", "columns": [AGE]})
        answer = with_ledger.send_file("/api/file/draw", head, CSV)
        removal.result()
    assert answer.status == 400
    assert answer.error.endswith(" The budget of '-survey' was charged before this failed.")


def test_a_draw_that_would_fail_is_not_charged(with_ledger):
    town = {"name": "town", "epsilon": 0.5}
    asked = (
        ({"name": "town"}, CSV, "column 'town' must have a number in row 1 below the header."),
        ({"name": "pay"}, CSV + b"41,Ulm,\n", "column 'pay' must have no missing values"),
        ({}, CSV.split(b"\n")[0] + b"\n", "the file must have at least one row to be charged"),
        ({"bounds": [120, 0]}, CSV, "must be above"),
        ({"step": 700}, CSV, "step"),
        ({"epsilon": 1e-300}, CSV, "epsilon"),
        ({"mechanism": "clamped-gaussian"}, CSV, "delta must be given"),
        ({"levels": ["Ulm"]}, CSV, "must be 2 to"),
        ({"levels": ["Ulm", "Bonn"]}, CSV, "must hold"),
    )
    for change, data, reason in asked:
        head = {"name": "people.csv"}
        if "levels" in change:
            head["levels"] = [town | change]
        elif "mechanism" in change:
            head |= {"columns": [AGE]} | change
        else:
            head["columns"] = [AGE | change]
        answer = with_ledger.send_file("/api/file/draw", charge(head), data)
        assert answer.status == 400
        assert reason in answer.error
        assert "charged before" not in answer.error
    assert ib.Ledger(with_ledger.said.with_name("budget.db")).records("-survey") == []


@pytest.mark.parametrize("kind", [signal.SIGQUIT, signal.SIGKILL])
def test_nothing_is_drawn_on_after_the_server(tmp_path, kind):
    """However the server ends, a command that it started ends, and removes its copy of the file."""
    before = signal.signal(signal.SIGQUIT, signal.SIG_DFL)  # shells let jobs behind them ignore it
    try:
        with started(tmp_path) as server, begun(server):
            server.process.send_signal(kind)
            assert until(lambda: not server.processes())
            assert [path for path in server.left() if path.is_file()] == []
    finally:
        signal.signal(signal.SIGQUIT, before)


def test_what_cannot_be_drawn_or_afforded_is_not_charged(with_ledger):
    server = with_ledger
    head = {"name": "people.csv", "columns": [AGE | {"name": "missing"}]}
    answer = server.send_file("/api/file/draw", charge(head), CSV)
    assert answer.error == "the file has no column 'missing'."
    answer = server.send_file("/api/file/draw", charge(head, "other"), CSV)
    assert answer.status == 400
    dear = {"name": "people.csv", "columns": [AGE | {"epsilon": 9}]}
    assert "too little for epsilon=9" in server.send_file("/api/file/draw", charge(dear), CSV).error
    statistics = {"name": "people.csv", "statistics": {"count": True}, "epsilon": 9}
    statistics |= {"by": ["town"], "groups": [["Ulm"]]}
    answer = server.send_file("/api/file/summarize", charge(statistics), CSV)
    assert "too little" in answer.error
    assert "was charged" not in answer.error
    answer = server.send_file("/api/file/summarize", charge(statistics, "other"), CSV)
    assert answer.error.startswith("dataset 'other' is unknown")
    assert server.ask("/api/ledger", {}).json["datasets"][0]["entries"] == 0


def test_without_the_option_no_ledger_is_read_or_charged(tmp_path, monkeypatch):
    ib.Ledger(tmp_path / "budget.db").open("survey", epsilon=3.0)
    monkeypatch.setenv("INBOUNDS_LEDGER", str(tmp_path / "budget.db"))
    with started(tmp_path) as server:
        assert server.ask("/api/ledger", {}).json == {"place": None, "datasets": []}
        head = charge({"name": "people.csv", "columns": [AGE]}, "survey")
        answer = server.send_file("/api/file/draw", head, CSV)
        assert answer.error.startswith("charge must be null, because the server has no ledger.")
        statistics = {"name": "people.csv", "statistics": {"count": True}, "epsilon": 1}
        answer = server.send_file("/api/file/summarize", charge(statistics, "survey"), CSV)
        assert answer.error.startswith("charge must be null")
    assert ib.Ledger(tmp_path / "budget.db").records("survey") == []


def test_a_ledger_that_is_not_there_is_one_line(tmp_path):
    done = subprocess.run(
        [*COMMAND, "--ledger", "missing.db"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"Error: there is no ledger at {tmp_path}/missing.db.\n"
    assert list(tmp_path.iterdir()) == []


def test_a_password_of_a_ledger_is_not_shown(tmp_path):
    place = "postgresql+psycopg://ana:s3cr3t%21@127.0.0.1:1/privacy?connect_timeout=1"
    done = subprocess.run(
        [*COMMAND, "--ledger", place], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "s3cr3t" not in done.stdout + done.stderr


def test_a_module_beside_the_user_stands_in_for_none_of_ours(tmp_path):
    (tmp_path / "inbounds").mkdir()
    (tmp_path / "inbounds" / "__init__.py").write_text("raise SystemExit('hijacked')")
    (tmp_path / "csv.py").write_text("raise SystemExit('hijacked')")
    script = str(Path(sys.executable).with_name("inbounds"))
    with started(tmp_path, command=(script, "explore", "--no-browser")) as server:
        assert server.send_file("/api/file/columns", {"name": "a.csv"}, CSV).status == 200
        assert (
            server.send_file("/api/file/draw", {"name": "a.csv", "columns": [AGE]}, CSV).status
            == 200
        )


def test_the_page_answers_questions(server):
    view = server.ask("/api/view", QUESTION)
    assert view.status == 200
    assert view.headers["server-timing"].startswith("cpu;dur=")
    assert server.ask("/api/view", {"question": QUESTION}).json == view.json
    assert server.ask("/api/compare", QUESTION).json["rows"]
    goal = {"find": "epsilon", "error": "average_rmse", "at_most": 5}
    assert server.ask("/api/goal", {"question": QUESTION, "goal": goal}).json["possible"]
    assert server.ask("/api/view", QUESTION | {"bounds": [[5, 1]]}).status == 400


def test_regime_maps_of_any_delta_come_with_progress(server):
    assert server.ask("/api/regimes", {"delta": 0}).json["state"] == "done"
    assert server.ask("/api/regimes", {"delta": 1e-5}).json["state"] == "computing"
    newer = {"delta": 1e-6}
    assert server.ask("/api/regimes", newer).json["state"] == "computing"
    answers = []
    assert until(lambda: answers.append(server.ask("/api/regimes", newer).json) or
                 answers[-1]["state"] == "done", 60)  # fmt: skip
    assert answers[-1]["map"]["delta"] == 1e-6
    assert len({answer.get("done") for answer in answers}) > 2
    assert server.ask("/api/regimes", newer).json == answers[-1]
    assert server.ask("/api/regimes", {"delta": -1}).status == 400


def test_made_up_values_show_what_outputs_look_like(server):
    asked = {"columns": [AGE, AGE | {"name": "pay", "step": None}], "rows": 5000}
    age, pay = server.ask("/api/file/simulate", asked).json["columns"]
    assert (age["name"], pay["name"]) == ("age", "pay")
    for column in (age, pay):
        assert sum(column["outputs"]["fractions"]) == pytest.approx(1)
        assert 20 < column["error"] < 120


def test_the_commands_of_a_charged_draw_do_it_again(with_ledger, tmp_path):
    server = with_ledger
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "people.csv").write_bytes(CSV)
    statistics = {"name": "people.csv", "statistics": {"count": True}, "epsilon": 0.25}
    statistics |= {"by": ["town"], "groups": [["Ulm"]]}
    for path, head in (
        ("draw", {"name": "people.csv", "columns": [AGE]}),
        ("summarize", statistics),
    ):
        facts, files = server.send_file(f"/api/file/{path}", charge(head), CSV).files()
        done = subprocess.run(
            facts["command"],
            shell=True,
            check=False,
            capture_output=True,
            text=True,
            cwd=tmp_path / "again",
            env=os.environ
            | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        )
        assert done.returncode == 0, done.stderr
        assert set(files) <= {path.name for path in (tmp_path / "again").iterdir()}
    records = ib.Ledger(tmp_path / "budget.db").records("-survey")
    assert [record["charged"] for record in records] == pytest.approx([0.5, 0.5, 0.25, 0.25])


def test_a_draw_of_one_row_per_person_is_charged_to_a_budget_for_people(tmp_path):
    ledger = ib.Ledger(tmp_path / "budget.db")
    ledger.open("people", epsilon=3.0, unit=ib.Unit("replace", "person"))
    ledger.open("couples", epsilon=3.0, unit=ib.Unit("replace", "person", 2))
    ledger.open("guests", epsilon=3.0, unit=ib.Unit("add-remove", "person"))
    head = {"name": "people.csv", "columns": [AGE]}
    with started(tmp_path, "--ledger", "budget.db") as server:
        facts, _ = server.send_file("/api/file/draw", charge(head, "people"), CSV).files()
        assert facts["charged"] == "people: epsilon=2.5 left of epsilon=3."
        facts, _ = server.send_file("/api/file/draw", charge(head, "couples"), CSV).files()
        assert facts["charged"] == "couples: epsilon=2 left of epsilon=3."
        answer = server.send_file("/api/file/draw", charge(head, "guests"), CSV)
        assert answer.error == (
            "the budget of 'guests' must be one for replaced rows or people, got 'add or remove "
            "one person'. Hint: a private copy has a row for everybody, so it does not hide that "
            "somebody is in it."
        )
        statistics = {"name": "people.csv", "statistics": {"count": True}, "epsilon": 1}
        answer = server.send_file("/api/file/summarize", charge(statistics, "people"), CSV)
        assert answer.error == (
            "the column of people must be chosen, because the budget of 'people' is for people: "
            "replace one person."
        )
        statistics |= {"id": "town", "rows": 2, "size": 10}
        facts, _ = server.send_file(
            "/api/file/summarize", charge(statistics | {"epsilon": 1}, "people"), CSV
        ).files()
        assert facts["charged"] == "people: epsilon=1.5 left of epsilon=3."
    assert [r["unit"] for r in ledger.records("people")] == ["replace one person"] * 2


def killed_after_its_charge(server, place, dataset, entries):
    """Kill the command as soon as its charge is in the ledger, before it can say so."""
    ledger = ib.Ledger(place)
    while len(ledger.records(dataset)) == entries:
        time.sleep(0.002)
    for process in server.processes():
        if process != server.process.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)


def test_a_charge_is_told_even_if_the_command_ends_right_after_it(tmp_path):
    """The command ends without a word, but what it charged is in the ledger."""
    place = tmp_path / "budget.db"
    ib.Ledger(place).open("survey", epsilon=30.0)
    head = charge({"name": "people.csv", "columns": [AGE]}, "survey")
    told = 0
    with started(tmp_path, "--ledger", "budget.db") as server:
        for entries in range(5):
            killer = threading.Thread(
                target=killed_after_its_charge, args=(server, place, "survey", entries)
            )
            killer.start()
            answer = server.send_file("/api/file/draw", head, CSV)
            killer.join()
            if answer.status != 200:
                assert answer.error.endswith("of 'survey' was charged before this failed.")
                told += 1
    assert told  # at least once the command was still there
    assert len(ib.Ledger(place).records("survey")) == 5


def test_a_charge_of_somebody_else_is_not_ours(tmp_path):
    place = tmp_path / "budget.db"
    ib.Ledger(place).open("survey", epsilon=30.0)
    wrong = {"name": "people.csv", "statistics": {"mean": [{"name": "town", "bounds": [0, 1]}]}}
    wrong |= {"epsilon": 1}
    other, ended = ib.Ledger(place, user="somebody else"), threading.Event()

    def spend():
        while not ended.wait(0.02):
            other.spend("survey", epsilon=0.01, label="--json")

    with started(tmp_path, "--ledger", "budget.db") as server:
        spender = threading.Thread(target=spend)
        spender.start()
        try:
            answer = server.send_file("/api/file/summarize", charge(wrong, "survey"), CSV)
        finally:
            ended.set()
            spender.join()
        assert answer.status == 400
        assert "charged" not in answer.error
        records = ib.Ledger(place).records("survey")
        assert records
        assert {record["user"] for record in records} == {"somebody else"}


def test_two_tabs_get_the_maps_of_two_deltas(server):
    deltas, maps = (3e-7, 4e-7), {}

    def all_done():
        for delta in deltas:
            answer = server.ask("/api/regimes", {"delta": delta})
            assert answer.status == 200, answer.error
            if answer.json["state"] == "done":
                maps[delta] = answer.json["map"]["delta"]
        return len(maps) == 2

    assert until(all_done, 120)
    assert maps == dict(zip(deltas, deltas, strict=True))


def test_files_are_taken_after_the_folder_was_tidied_away(tmp_path):
    with started(tmp_path) as server:
        head = {"name": "a.csv", "columns": [AGE]}
        assert server.send_file("/api/file/draw", head, CSV).status == 200
        (folder,) = server.left()
        folder.rmdir()
        assert server.send_file("/api/file/draw", head, CSV).status == 200
        assert server.end()[0] == 0
        assert server.left() == []


def test_notes_about_a_file_come_with_its_columns(server):
    answer = server.send_file("/api/file/columns", {"name": "a.csv"}, b",41\n0,7\n").json
    assert [column["name"] for column in answer["columns"]] == ["41"]
    assert len(answer["notes"]) == 2
    assert server.send_file("/api/file/columns", {"name": "a.csv"}, CSV).json["notes"] == []


def test_many_questions_do_not_make_the_server_grow(tmp_path):
    """A thread for each question, and many mechanisms that were kept, made it grow to 480 MB."""

    def resident():
        pages = Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") >> 20

    with started(tmp_path) as server:
        sizes = []
        for k in range(180):
            question = QUESTION | {"sensitivity": [1 + k / 100]}
            assert server.ask("/api/view", question).status == 200
            if k in (60, 179):
                sizes.append(resident())
        assert len(list(Path(f"/proc/{server.process.pid}/task").iterdir())) < 12
    assert sizes[1] - sizes[0] < 40, sizes
    assert sizes[1] < 400, sizes
