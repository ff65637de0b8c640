"""Programs that share a ledger with the tests, and die in the middle of things."""

import os
import random
import resource
import signal
import subprocess
import sys
import time

import inbounds as ib
from inbounds.accounting.ledger import Ledger
from inbounds.errors import BudgetExceededError, LedgerError


def start(name: str, *arguments: object) -> subprocess.Popen[str]:
    """Run one of the functions below in a process of its own; it waits for a line."""
    command = [sys.executable, "-W", "error", __file__, name, *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Let a process go on, and return its exit code, output and errors."""
    output, errors = process.communicate("go\n", timeout=120)
    return process.returncode, output, errors


def race(place: str) -> None:
    """Create the ledger if nobody has, then try 25 charges of 0.1, and say how many went well."""
    ledger = Ledger(place)
    sys.stdin.readline()
    ledger.open("survey", epsilon=3.0, exist_ok=True)
    sys.stdout.write(str(attempts(ledger, 25)))


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


def killed_while_charging(place: str, rounds: str) -> None:
    """Kill forked processes that charge as fast as they can and print each charge once made."""
    sys.stdin.readline()
    moments = random.Random(20261115)
    for k in range(int(rounds)):
        source, sink = os.pipe()
        child = os.fork()
        if child == 0:
            charge_until_killed(place, k, sink)
        os.close(sink)
        with os.fdopen(source) as acknowledged:
            for _ in range(moments.randint(1, 4)):
                sys.stdout.write(acknowledged.readline())
            time.sleep(moments.uniform(0, 0.03))
            os.kill(child, signal.SIGKILL)
            sys.stdout.write(acknowledged.read())
        os.waitpid(child, 0)


def charge_until_killed(place: str, k: int, sink: int) -> None:
    ledger = Ledger(place)
    for i in range(10**6):
        ledger.spend("survey", epsilon=0.1, label=f"{k}-{i}")
        os.write(sink, f"{k}-{i}\n".encode())


if __name__ == "__main__":
    programs = (race, die_at_the_draw, full_disk, inherit, killed_while_charging)
    {program.__name__: program for program in programs}[sys.argv[1]](*sys.argv[2:])
