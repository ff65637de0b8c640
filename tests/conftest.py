"""Make property tests repeatable: the same examples on every run and every machine.

`pytest --hypothesis-profile=default` explores at random instead. The session of Spark is here too.
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


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session with a Java of its own, stopped with the module's last test."""
    import pyspark  # noqa: PLC0415 - most tests do without
    from pyspark.sql import SparkSession  # noqa: PLC0415

    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.fail("Spark needs a Java runtime: apt-get install default-jre-headless")
    settings = {
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_HOME", str(Path(pyspark.__file__).parent))
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        forget_java()
        session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
        yield session
        gateway = session.sparkContext._gateway
        session.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait()
        forget_java()


def forget_java() -> None:
    """Make the next session start a Java of its own; PySpark remembers one that was shut down."""
    from pyspark import SparkContext  # noqa: PLC0415

    SparkContext._gateway = SparkContext._jvm = None
