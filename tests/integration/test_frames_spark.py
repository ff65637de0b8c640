"""Spark with a driver and two executors, each a process of its own with its own Python."""

import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyspark
import pytest
from pyspark.errors import PythonException
from pyspark.sql import SparkSession
from scipy.stats import ks_2samp

import inbounds as ib
from inbounds.frames.local.privatize import privatize

# PySpark warns of pandas 3 wherever Arrow is used; no pandas object is made here.
pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

ROWS, PARTS = 100_000, 4
EVEN = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=1000.0)  # 2²² about equally likely answers
SHAPED = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.2)
WRONG = ib.BoundedGaussian(ib.Box(0, 1), 1, sigma=0.22)
WHOLE = ib.BoundedGaussian.calibrated(ib.Box(0, 120, step=1), 120, epsilon=1.0)
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.fixture(scope="module")
def spark(shared_spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Start a cluster in a folder of its own, as Spark writes beside its jars otherwise.

    It needs a Java of its own, because a process has only one, and its tests kill executors.
    """
    shared_spark.stop()
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.fail("Spark needs a Java runtime: apt-get install default-jre-headless")
    home = tmp_path_factory.mktemp("spark")
    for part in Path(pyspark.__file__).parent.iterdir():
        (home / part.name).symlink_to(part)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_HOME", str(home))
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("SPARK_LOCAL_HOSTNAME", "localhost")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        settings = {
            "spark.driver.extraJavaOptions": QUICK_START,
            "spark.executor.extraJavaOptions": QUICK_START,
            "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.sql.execution.arrow.maxRecordsPerBatch": "5000",
            "spark.task.maxFailures": "1",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "OFF",
        }
        builder = SparkSession.builder.master("local-cluster[2,1,1024]").config(map=settings)
        session = builder.getOrCreate()
        yield session
        gateway = session.sparkContext._gateway
        session.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait()


def test_executors_answer_with_the_law_of_release_and_never_repeat_each_other(
    spark: SparkSession,
) -> None:
    """False alarm below 1e-6: 1,180 ± 35 of 10⁵ answers repeat by chance, a batch adds 5,000."""
    frame = spark.range(0, ROWS, 1, PARTS).selectExpr(
        "id",
        *(f"CAST(0.3 AS DOUBLE) AS {name}" for name in ("even", "right", "wrong")),
        "'Ulm' AS t",
    )
    published = privatize(frame, {"wrong": WRONG, "even": EVEN, "right": SHAPED})
    assert type(published) is type(frame)
    assert published.schema == frame.schema
    table = published.toArrow()
    assert table["id"].to_pylist() == list(range(ROWS))
    assert pc.unique(table["t"]).to_pylist() == ["Ulm"]
    even, right, wrong = (table[name].to_numpy() for name in ("even", "right", "wrong"))
    assert ROWS - np.unique(even).size < 1600
    assert ((right >= 0) & (right <= 1)).all()
    expected = SHAPED.release(np.full(ROWS, 0.3))
    assert ks_2samp(right, expected, method="asymp").pvalue > 1e-7
    assert ks_2samp(wrong, expected, method="asymp").pvalue < 1e-7


def test_both_executors_take_part(spark: SparkSession) -> None:
    def name_folder(batches: Any) -> Any:
        for batch in batches:  # an executor works in a folder of its number
            number = int(Path.cwd().name)
            yield batch.set_column(0, "id", pa.array([number] * batch.num_rows))

    numbers = spark.range(0, 8, 1, 8).mapInArrow(name_folder, "id bigint").toArrow()["id"]
    assert pc.count_distinct(numbers).as_py() == 2


@pytest.mark.filterwarnings("ignore::inbounds.RepeatedReleaseWarning")
def test_a_plan_is_lazy_if_asked_and_its_filters_see_private_values_only(
    spark: SparkSession,
) -> None:
    """All true values are 0: a filter that saw them would keep nothing."""
    failing = spark.range(9).selectExpr("CAST(raise_error('evaluated 7') AS DOUBLE) AS age")
    assert privatize(failing, {"age": EVEN}, lazy=True).filter("age > 0.5").columns == ["age"]
    with pytest.raises(ib.ArgumentError, match="could not be evaluated") as caught:
        privatize(failing, {"age": EVEN})
    assert "evaluated 7" not in "".join(traceback.format_exception(caught.value))
    frame = spark.range(0, 4000, 1, 2).selectExpr("CAST(0 AS DOUBLE) AS age")
    for lazy in (False, True):
        kept = privatize(frame, {"age": EVEN}, lazy=lazy).filter("age > 0.5").toArrow()
        assert 1500 < kept.num_rows < 2500
        assert pc.min(kept["age"]).as_py() > 0.5


def test_types_and_nulls_are_kept_on_executors(spark: SparkSession) -> None:
    frame = spark.range(0, 300, 1, 3).selectExpr(
        "id", "CAST(IF(id % 3 = 0, NULL, id % 100) AS SMALLINT) AS age"
    )
    kept = privatize(frame, {"age": WHOLE}, nulls="keep")
    assert kept.schema == frame.schema
    table = kept.toArrow()
    assert table["age"].null_count == 100
    assert table["age"].is_null().equals(frame.toArrow()["age"].is_null())
    answered = privatize(frame, {"age": WHOLE}, nulls="uniform").toArrow()["age"]
    assert answered.null_count == 0
    assert 0 <= pc.min(answered).as_py() <= pc.max(answered).as_py() <= 120


@pytest.mark.filterwarnings("ignore::inbounds.RepeatedReleaseWarning")
@pytest.mark.parametrize(("lazy", "kind"), [(False, ib.ArgumentError), (True, PythonException)])
def test_an_error_on_an_executor_names_the_column_and_shows_no_value(
    spark: SparkSession, lazy: bool, kind: type[Exception]
) -> None:
    frame = spark.sql("SELECT EXPLODE(ARRAY(CAST(0.123456 AS DOUBLE), NULL)) AS age")
    with pytest.raises(kind, match="column 'age' must have no nulls") as caught:
        privatize(frame, {"age": EVEN}, lazy=lazy).toArrow()
    assert "0.1234" not in "".join(traceback.format_exception(caught.value))


def test_rows_are_shuffled_across_executors_and_no_metadata_is_passed_on(
    spark: SparkSession,
) -> None:
    """False alarm below 1e-6: the mean distance that 4000 rows move is a third of them ± 0.004."""
    frame = spark.range(0, 4000, 1, PARTS).selectExpr("id", "CAST(id % 120 AS INT) AS age")
    noted = frame.withMetadata("age", {"ml_attr": {"max": 119}}).withMetadata(
        "id", {"comment": "x"}
    )
    published = privatize(noted, {"age": WHOLE}, shuffle=True)
    assert published.columns == ["id", "age"]
    assert [field.metadata for field in published.schema.fields] == [{}, {}]
    ids = np.array([row["id"] for row in published.collect()])
    assert sorted(ids.tolist()) == list(range(4000))
    assert 0.3 < np.abs(ids - np.arange(4000)).mean() / 4000 < 0.37


def test_a_dotted_column_is_privatized_and_its_struct_is_not(spark: SparkSession) -> None:
    rows = [((50.0,), 1000.0 + i, "x") for i in range(3)]
    frame = spark.createDataFrame(rows, "a struct<b: double>, `a.b` double, `c.d e` string")
    mechanism = ib.BoundedGaussian.calibrated(ib.Box(0, 1), 1, epsilon=1e6)
    published = ib.privatize(frame, {"a.b": mechanism}, shuffle=True)
    assert published.columns == ["a", "a.b", "c.d e"]
    for (inner,), answer, text in published.collect():
        assert (inner, text) == (50.0, "x")
        assert 0.9 < answer <= 1


def people(spark: SparkSession) -> Any:
    return spark.range(0, 4000, 1, PARTS).selectExpr("id", "CAST(0.5 AS DOUBLE) AS age")


def look(frame: Any) -> set[tuple[int, float]]:
    table = frame.toArrow()
    return set(zip(table["id"].to_pylist(), table["age"].to_pylist(), strict=True))


def executors(spark: SparkSession) -> list[int]:
    """The process of each executor: its Python workers are the children of its one child."""

    def name_process(batches: Any) -> Any:
        for _ in batches:
            status = Path(f"/proc/{os.getppid()}/stat").read_text(encoding="ascii")
            yield pa.record_batch({"process": [int(status.rpartition(")")[2].split()[1])]})

    named = spark.range(0, 8, 1, 8).mapInArrow(name_process, "process bigint")
    return sorted({row["process"] for row in named.collect()})


def kill_an_executor(spark: SparkSession) -> None:
    """Kill one of the executors of our own cluster, and wait until Spark has noticed."""
    process = executors(spark)[0]
    assert b"CoarseGrainedExecutorBackend" in Path(f"/proc/{process}/cmdline").read_bytes()
    stores = spark.sparkContext._jsc.sc().getExecutorMemoryStatus
    assert stores().size() == 3  # with that of the driver
    os.kill(process, signal.SIGKILL)
    deadline = time.monotonic() + 60
    while stores().size() == 3:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.filterwarnings("ignore::inbounds.RepeatedReleaseWarning")
def test_no_row_is_drawn_again_when_an_executor_is_killed(
    spark: SparkSession, tmp_path: Path
) -> None:
    """False alarm below 1e-6: 900 rows of 1000 are not drawn with the same outputs again.

    A cached result is the control: Spark draws what it has lost again, and says nothing.
    """
    stored = privatize(people(spark), {"age": EVEN})
    shuffled = privatize(people(spark), {"age": EVEN}, shuffle=True)
    cached = privatize(people(spark), {"age": EVEN}, lazy=True).cache()
    spark.sparkContext.setCheckpointDir(str(tmp_path))
    try:
        reliable = privatize(people(spark), {"age": EVEN}, shuffle=True)
    finally:
        spark.sparkContext.setCheckpointDir(None)  # type: ignore[arg-type]
    frames = (stored, shuffled, cached, reliable)
    looks = [look(frame) for frame in frames]
    assert [look(frame) for frame in frames] == looks
    kill_an_executor(spark)
    for frame in (stored, shuffled):
        with pytest.raises(Exception, match=r"(?i)checkpoint"):
            look(frame)
    assert len(look(cached) - looks[2]) >= 900
    assert look(reliable) == looks[3]


def test_a_shuffled_result_has_one_order(spark: SparkSession) -> None:
    """A second plan is looked at, because Spark keeps the sorted rows of the first one."""
    published = privatize(people(spark), {"age": EVEN}, shuffle=True)
    again = published.selectExpr("id", "age", "1 AS one").toArrow().drop_columns(["one"])
    assert published.toArrow().equals(again)


def test_a_session_with_speculation_is_refused_before_anything_is_drawn(
    spark: SparkSession,
) -> None:
    failing = spark.range(9).selectExpr("CAST(raise_error('evaluated') AS DOUBLE) AS age")
    spark.conf.set("spark.sql.legacy.setCommandRejectsSparkCoreConfs", "false")
    spark.conf.set("spark.speculation", "true")
    try:
        with pytest.raises(ib.ArgumentError, match=r"^frame must be of a session without spec"):
            privatize(failing, {"age": EVEN})
        with pytest.warns(ib.RepeatedReleaseWarning):
            privatize(failing, {"age": EVEN}, lazy=True)
    finally:
        spark.conf.unset("spark.speculation")
        spark.conf.unset("spark.sql.legacy.setCommandRejectsSparkCoreConfs")
