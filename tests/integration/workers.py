"""Programs that share a ledger with the tests, and die in the middle of things."""

import itertools
import os
import random
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable

import inbounds as ib
from inbounds.accounting.ledger import Ledger
from inbounds.errors import BudgetExceededError, LedgerError

TENTH = ib.BoundedGaussian.calibrated(ib.Box(0, 120), 2.5, epsilon=0.1)


def start(name: str, *arguments: object) -> subprocess.Popen[str]:
    """Run one of the functions below in a process of its own; it waits for a line."""
    command = [sys.executable, "-W", "error", __file__, name, *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Let a process go on, and return its exit code, output and errors."""
    output, errors = process.communicate("go\n", timeout=120)
    return process.returncode, output, errors


def check_race(place: object, output: str) -> None:
    """Hold a ledger of 3.0 against what racing processes say they paid 0.1 for each."""
    ledger = Ledger(str(place))
    charged = [record["label"] for record in ledger.records("survey")]
    assert sorted(charged) == sorted(output.split())
    assert len(charged) == 30
    assert (ledger.remaining("survey").epsilon or 0) < 1e-12
    ledger.verify("survey")


def check_killed(place: object, output: str, kills: int) -> None:
    """Hold a ledger against what killed processes got to print."""
    released = [line.split()[0] for line in output.splitlines()]
    assert len(released) > kills / 2
    ledger = Ledger(str(place))
    charged = [record["label"] for record in ledger.records("survey")]
    assert len(set(charged)) == len(charged)
    assert set(released) <= set(charged)
    # Paid for, and killed before the answer was printed: at most once in each process.
    assert len(charged) - len(released) <= kills
    ledger.verify("survey")


def race(place: str, processes: str) -> None:
    """Let processes create one ledger and exhaust it; each prints what it was charged for."""
    sys.stdin.readline()
    gate, opener = os.pipe()
    children = [fork(racer, place, k, gate, opener) for k in range(int(processes))]
    os.close(opener)  # all start when nobody holds it any more
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    sys.exit(max(codes))


def racer(place: str, k: int, gate: int, opener: int) -> None:
    os.close(opener)
    os.read(gate, 1)
    ledger = Ledger(place)
    ledger.open("survey", epsilon=3.0, exist_ok=True)
    for i in range(10):
        try:
            if k % 2:
                ledger.spend("survey", epsilon=0.1, label=f"{k}-{i}")
            else:
                ledger.release(TENTH, 41.0, dataset="survey", label=f"{k}-{i}")
            os.write(1, f"{k}-{i}\n".encode())
        except BudgetExceededError:
            pass


def fork(work: Callable[..., None], *arguments: object) -> int:
    """Run something in a forked process, and return the number of that."""
    child = os.fork()
    if child == 0:
        try:
            work(*arguments)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)
    return child


def attempts(ledger: Ledger, count: int) -> int:
    charged = 0
    for _ in range(count):
        try:
            ledger.spend("survey", epsilon=0.1)
            charged += 1
        except BudgetExceededError:
            pass
    return charged


class Deadly:
    """Entropy that kills who asks for it."""

    def bits(self, count: int) -> int:
        os.kill(os.getpid(), signal.SIGKILL)
        return count

    words = bits


def die_at_the_draw(place: str) -> None:
    mechanism = ib.BoundedLaplace.calibrated(ib.Box(0, 120), 2.5, epsilon=0.5)
    sys.stdin.readline()
    answer = Ledger(place).release(mechanism, 41.0, dataset="survey", entropy=Deadly())
    sys.stdout.write(f"answer {answer}")


def full_disk(place: str) -> None:
    """Try a release where no file may grow any more."""
    mechanism = ib.BoundedLaplace.calibrated(ib.Box(0, 120), 2.5, epsilon=0.5)
    sys.stdin.readline()
    ledger = Ledger(place)
    ledger.remaining("survey")
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    try:
        ledger.release(mechanism, 41.0, dataset="survey", entropy=Deadly())
    except LedgerError as error:
        sys.stdout.write(str(error))


def inherit(place: str) -> None:
    """Charge from forked processes through the ledger that their parent has used."""
    sys.stdin.readline()
    ledger = Ledger(place)
    ledger.spend("survey", epsilon=0.1)
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            os._exit(attempts(ledger, 10))
        children.append(child)
    own = attempts(ledger, 10)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    sys.stdout.write(str(1 + own + sum(codes)))


def killed(place: str, rounds: str) -> None:
    """Kill processes that release as fast as they can; they print what they got once they have it.

    A moment is some answers and some milliseconds away: before the first, between two, or in one.
    """
    sys.stdin.readline()
    moments = random.Random(20261115)
    for k in range(int(rounds)):
        source, sink = os.pipe()
        child = fork(release_for_ever, place, k, sink)
        os.close(sink)
        with os.fdopen(source) as answers:
            for _ in range(moments.randint(0, 2)):
                sys.stdout.write(answers.readline())
            time.sleep(moments.uniform(0, 0.02))
            os.kill(child, signal.SIGKILL)
            sys.stdout.write(answers.read())
        os.waitpid(child, 0)


def release_for_ever(place: str, k: int, sink: int) -> None:
    ledger = Ledger(place)
    for i in itertools.count():
        answer = ledger.release(TENTH, 41.0, dataset="survey", label=f"{k}-{i}")
        os.write(sink, f"{k}-{i} {answer}\n".encode())


if __name__ == "__main__":
    programs = (race, die_at_the_draw, full_disk, inherit, killed)
    {program.__name__: program for program in programs}[sys.argv[1]](*sys.argv[2:])
