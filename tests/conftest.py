"""Make property tests repeatable: the same examples on every run and every machine.

`pytest --hypothesis-profile=default` explores at random instead. The session of Spark and the
browser are here, too, and which tests share a worker.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("ci")

BROWSERS = ("chromium", "chromium-browser", "google-chrome")

# In these files, the tests whose names say Spark run in one worker, in one Java.
SHARE_SPARK = (
    "tests/integration/test_estimate_engines.py",
    "tests/integration/test_frames_categories.py",
    "tests/integration/test_summarize_engines.py",
    "tests/properties/test_neighbours.py",
    "tests/properties/test_quantile_neighbours.py",
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give workers whole files, and one of them all tests that share a session of Spark."""
    from xdist.scheduler import LoadFileScheduling  # noqa: PLC0415 - not needed without workers

    class FilesAndSpark(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file, _, test = nodeid.partition("::")
            return "spark" if file in SHARE_SPARK and "spark" in test else file

    return FilesAndSpark(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """See to it that `make test` finds every test that must run alone where it looks for them."""
    for item in items:
        if item.get_closest_marker("alone") and item.path.parent.name != "attacks":
            raise pytest.UsageError(f"{item.nodeid} runs alone, so it belongs to tests/attacks")


class SharedSpark:
    """One Java for all modules of a process: it takes longer to start than most queries take.

    Whoever needs another Java stops this one; it starts again when it is next needed.
    """

    def __init__(self, warehouse: Path) -> None:
        self._warehouse = warehouse
        self._first: Any = None  # the session that Java was started with
        self._patch = pytest.MonkeyPatch()

    def session(self) -> Any:
        """Return a new session, with settings and views of its own."""
        if self._first is None:
            self._start()
        return self._first.newSession()

    def _start(self) -> None:
        import pyspark  # noqa: PLC0415 - most tests do without
        from pyspark.sql import SparkSession  # noqa: PLC0415

        if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
            pytest.fail("Spark needs a Java runtime: apt-get install default-jre-headless")
        settings = {
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.log.level": "OFF",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": str(self._warehouse),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
        }
        self._patch.setenv("SPARK_HOME", str(Path(pyspark.__file__).parent))
        self._patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        self._patch.setenv("PYSPARK_PYTHON", sys.executable)
        forget_java()
        self._first = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()

    def stop(self) -> None:
        """Stop Java, if it runs, and wait for its end."""
        if self._first is None:
            return
        gateway = self._first.sparkContext._gateway
        self._first.stop()
        self._first = None
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait()
        forget_java()
        self._patch.undo()


@pytest.fixture(scope="session")
def shared_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedSpark]:
    shared = SharedSpark(tmp_path_factory.mktemp("warehouse"))
    yield shared
    shared.stop()


@pytest.fixture(scope="module")
def spark(shared_spark: SharedSpark) -> Any:
    """A session of the module's own, in a Java that it shares with other modules."""
    return shared_spark.session()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The system's browser, as Playwright drives it."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - most tests do without

    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.fail("These tests need a browser: apt-get install chromium")
    with sync_playwright() as playwright:
        sandbox = [] if os.getuid() else ["--no-sandbox"]
        opened = playwright.chromium.launch(executable_path=program, args=sandbox)
        yield opened
        opened.close()


def forget_java() -> None:
    """Make the next session start a Java of its own; PySpark remembers one that was shut down."""
    from pyspark import SparkContext  # noqa: PLC0415

    SparkContext._gateway = SparkContext._jvm = None
