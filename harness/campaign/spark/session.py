"""Session: Spark, started once and quietly. What Java has to say goes to a log, which is kept if something fails."""

import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from epochfuzz.harness.campaign.store.errors import CampaignError, sentence

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_MASTER = "local[*,4]"  # every core, and four attempts at a task, as on a cluster

_JAVA_REMEDY = "Spark needs Java 17 or newer: sudo apt-get install openjdk-17-jre-headless"
_CONNECT_REMEDY = "--remote needs Spark Connect's client: pip install 'pyspark[connect]'"
_CONNECT_PORT = 15002
_PATIENCE = 10.0  # seconds for a server to accept a connection

# On a local master the JVM only moves rows. Its first compiler alone, and its simplest collector, start in half the
# time and leave the cores to the workers. Its performance counters would be a file in /tmp, wherever other temporary
# files are.
_LOCAL_OPTIONS = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData",
    "spark.ui.enabled": "false",
}
_OPTIONS = {
    "spark.app.name": "epochfuzz",
    "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
}


@contextmanager
def opened(
    master: str | None = None,
    remote: str | None = None,
    temporary: Path | None = None,
    memory: float | None = None,
) -> Iterator["SparkSession"]:
    """Open a Spark session on a master, or on a Spark Connect server. Whatever Spark fails with is a CampaignError.

    What Spark, Java and workers on this machine need for a while only is in `temporary`, if there is such a directory.
    `memory`: what the driver's Java may take, in GiB.
    """
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # it logs a traceback of what it also raises,
    logging.getLogger().addFilter(_is_not_of_py4j)  # some of it in nobody's name
    descriptor, name = tempfile.mkstemp(prefix="epochfuzz-spark-", suffix=".log", dir=temporary)
    log, failed = Path(name), False
    try:
        with _temporary_files_in(temporary):
            with _output_to(descriptor), _same_ctrl_c():
                spark = _connected(remote) if remote else _started(master or DEFAULT_MASTER, temporary, memory)
            try:
                yield spark
            finally:
                spark.stop()
    except (PySparkException, Py4JError, ConnectionError) as error:
        failed = True
        if temporary is not None:
            log = Path(shutil.move(log, tempfile.gettempdir()))  # where it stays
        raise CampaignError(_complaint(error, log)) from None
    finally:
        os.close(descriptor)
        if not failed:
            log.unlink()


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in Path(record.pathname).parts


@contextmanager
def _same_ctrl_c() -> Iterator[None]:
    """Ctrl-C does afterwards what it did before.

    Spark would have it end all jobs first, which fails where Java is being waited for, or ends in the error of a job.
    They end with the session.
    """
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def _complaint(error: Exception, log: Path) -> str:
    """Return what to say of Spark's error. Of a JVM that never started, only the log knows more."""
    from py4j.protocol import Py4JNetworkError

    logged = log.read_text(encoding="utf-8", errors="replace")
    if "UnsupportedClassVersionError" in logged:
        return _JAVA_REMEDY
    if "All masters are unresponsive" in logged:
        from pyspark import __version__

        reason = f"the master takes no driver of PySpark {__version__}: it has to be of the same version, and running"
    elif isinstance(error, (ConnectionError, Py4JNetworkError)):
        reason = "its Java process has ended"
    else:
        reason = sentence(logged if "JAVA_GATEWAY_EXITED" in str(error) else str(error))
    return f"Spark failed: {reason} (its log is {log})"


def _started(master: str, temporary: Path | None, memory: float | None) -> "SparkSession":
    from pyspark.sql import SparkSession

    from epochfuzz.harness.campaign.spark import versions

    versions.require_home()
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else "java"
    if shutil.which(java) is None:
        raise CampaignError(f"{java} was not found; {_JAVA_REMEDY}")
    options = dict(_OPTIONS)
    if memory is not None:
        options["spark.driver.memory"] = f"{memory * 1024:.0f}m"
    if master.startswith("local"):
        options |= _LOCAL_OPTIONS
        if temporary is not None:
            options["spark.driver.extraJavaOptions"] += f" {_java_option('java.io.tmpdir', str(temporary))}"
            if "," not in str(temporary):  # where Spark would see two directories
                options["spark.local.dir"] = str(temporary)
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    elif master.startswith("spark://"):
        _require_any([urlsplit(f"spark://{host}") for host in master.removeprefix("spark://").split(",")])
    builder = SparkSession.builder.master(master)
    for key, value in options.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _java_option(name: str, value: str) -> str:
    """Return a system property of Java's, quoted as Spark splits options."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"-D{name}={escaped}"'


@contextmanager
def _temporary_files_in(directory: Path | None) -> Iterator[None]:
    """Have this process, and those that it starts, make temporary files there."""
    if directory is None:
        yield
        return
    before, cached = os.environ.get("TMPDIR"), tempfile.tempdir
    os.environ["TMPDIR"] = tempfile.tempdir = str(directory)
    try:
        yield
    finally:
        tempfile.tempdir = cached
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before


def _connected(remote: str) -> "SparkSession":
    from pyspark.sql import SparkSession

    from epochfuzz.harness.campaign.spark import versions

    _require_any([urlsplit(remote)])
    try:
        spark = SparkSession.builder.remote(remote).getOrCreate()
    except ImportError:
        raise CampaignError(_CONNECT_REMEDY) from None
    try:
        versions.require_server(spark.version)
    except CampaignError:
        spark.stop()
        raise
    return spark


def _require_any(servers: list[SplitResult]) -> None:
    """One of the servers answers. Raises CampaignError; Spark itself would try for minutes."""
    reasons = []
    for server in servers:
        try:
            socket.create_connection((server.hostname or "", server.port or _CONNECT_PORT), timeout=_PATIENCE).close()
        except (OSError, ValueError) as error:
            reasons.append(f"{server.netloc}: {error}")
        else:
            return
    raise CampaignError(f"no Spark server answers at {', '.join(reasons)}")


@contextmanager
def _output_to(descriptor: int) -> Iterator[None]:
    """Send what this process and the processes that it starts print to a file; they keep it, this process does not."""
    saved = os.dup(1), os.dup(2)
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        yield
    finally:
        for target, original in enumerate(saved, start=1):
            os.dup2(original, target)
            os.close(original)
