"""Rows on a standalone Spark cluster: a master and two workers, each in a process of its own."""

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from optional import needs
from servers import absent

pytestmark = pytest.mark.xdist_group("engines")

#: What the driver runs; it prints the largest difference from NumPy, and the counts of what must be equal.
DRIVER = """
import json, sys, warnings
import numpy as np, pyarrow as pa
from pyspark.sql import SparkSession
from oddsmith import AutoCalibrator, AutoScaling, PlattCalibrator, ScoreTable
from oddsmith.frames import apply, apply_joint
from oddsmith.model import JointModel

warnings.simplefilter("ignore")
session = (
    SparkSession.builder.master(sys.argv[1]).config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
    .config("spark.executor.memory", "512m").config("spark.sql.shuffle.partitions", "4")
    .config("spark.ui.showConsoleProgress", "false").getOrCreate()
)
rng = np.random.default_rng(0)
n = 4000
s, key = rng.normal(size=n), np.arange(n) % 3
y = (rng.random(n) < 1 / (1 + np.exp(-s))).astype(int)
z = rng.normal(size=(n, 3))
z[np.arange(n), key] += 1
kept = s.copy()
kept[::100] = np.nan
score = pa.array(kept, mask=np.arange(n) % 150 == 0)
table = pa.table({"id": np.arange(n), "s": score, "y": y, "k": key, **{f"z{i}": z[:, i] for i in range(3)}})
frame = session.createDataFrame(table).repartition(6)
whole = ScoreTable.from_frame(frame, "s", "y", bad_rows="skip")
good = ~np.isnan(kept) & (np.arange(n) % 150 != 0)
auto = AutoCalibrator().fit(s, y)
parts = {k: PlattCalibrator().fit(s[key == k], y[key == k]) for k in range(3)}
scaling = AutoScaling().fit(z, key)
result = apply(apply(frame, auto, "s", name="p"), parts, "s", name="q", by="k")
result = apply_joint(result, JointModel.from_scaling(scaling), ["z0", "z1", "z2"], prefix="r_")
rows = result.sort("id").toArrow()
column = lambda name: rows[name].to_numpy().astype(float)
difference = lambda name, wanted: float(np.nanmax(np.abs(column(name) - np.where(good, wanted, np.nan))))
each = np.choose(key, [parts[k].predict_proba(s)[:, 1] for k in range(3)])
joint = scaling.predict_proba(z)
print(json.dumps({
    "executors": session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1,
    "ids": bool(np.array_equal(column("id"), np.arange(n))),
    "table": whole == ScoreTable.from_arrays(s[good], y[good]),
    "missing": [int(rows[name].null_count) for name in ("p", "q")], "bad": int((~good).sum()),
    "far": max(difference("p", auto.predict_proba(s)[:, 1]), difference("q", each),
               *(float(np.abs(column(f"r_{i}") - joint[:, i]).max()) for i in range(3))),
}))
session.stop()
"""


@contextlib.contextmanager
def cluster(folder):
    """Start a master and two workers on this machine, and stop them; give the address of the master."""
    home = Path(needs("pyspark").__file__).parent
    spark = home / "bin" / "spark-class"
    here = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(home), "SPARK_NO_DAEMONIZE": "1"}
    environment = {**os.environ, **here, "PYSPARK_PYTHON": sys.executable}
    started = []

    def start(name, *arguments):
        log = folder / f"{len(started)}.log"
        with log.open("wb") as out:
            command = [str(spark), f"org.apache.spark.deploy.{name}", "--host", "127.0.0.1", "--webui-port", "0"]
            started.append(subprocess.Popen([*command, *arguments], env=environment, stdout=out, stderr=out))
        return log

    def wait(log, words):
        for _ in range(600):
            if found := re.search(words, log.read_text(errors="replace")):
                return found
            time.sleep(0.1)
        pytest.fail(f"Spark did not start:\n{log.read_text(errors='replace')[-2000:]}")

    try:
        found = wait(start("master.Master", "--port", "0"), r"Starting Spark master at (spark://\S+)")
        workers = [
            start("worker.Worker", "-c", "1", "-m", "600m", "-d", str(folder / f"work{i}"), found[1]) for i in range(2)
        ]
        for log in workers:
            wait(log, "Successfully registered with master")
        yield found[1], environment
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait(timeout=30)


def test_a_master_with_two_workers(tmp_path):
    needs("pyspark")
    if not any((Path(place) / "java").exists() for place in os.environ["PATH"].split(os.pathsep)):
        absent("Java")
    with cluster(tmp_path) as (master, environment):
        run = subprocess.run(
            [sys.executable, "-c", DRIVER, master], env=environment, capture_output=True, text=True, timeout=300
        )
    assert run.returncode == 0, run.stderr[-3000:]
    found = json.loads(run.stdout.splitlines()[-1])
    assert found["executors"] == 2
    assert found["ids"]
    assert found["table"]
    assert found["missing"] == [found["bad"]] * 2
    assert found["far"] < 1e-12
