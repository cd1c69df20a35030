"""Start a Spark session without output on the terminal. Java writes to a log, which is kept if Spark fails."""

import logging
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from epochfuzz.harness.campaign.store.errors import CampaignError, sentence
from epochfuzz.harness.engine.runtime.interruption import Interruption

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DEFAULT_MASTER = "local[*,4]"  # every core, and four attempts for each task, as on a cluster

_JAVA_REMEDY = "Spark needs Java 17 or newer: sudo apt-get install openjdk-17-jre-headless"
_CONNECT_REMEDY = "--remote needs Spark Connect's client: pip install 'pyspark[connect]'"
_CONNECT_PORT = 15002
_PATIENCE = 10.0  # seconds in which a server must accept a connection

# On a local master the JVM only moves rows. With only the C1 compiler and the serial collector it starts in half the
# time, and leaves the cores to the workers. -XX:-UsePerfData stops it from writing a file of performance counters. That
# file would be in /tmp even if another temporary directory is set.
_LOCAL_OPTIONS = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData",
}
_OPTIONS = {
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
    """Open a Spark session on a master or on a Spark Connect server. Raises CampaignError for any error of Spark.

    Without `master` and `remote`, the function uses the server that SPARK_REMOTE names, or else the master that
    spark-submit or Spark's configuration names, or else DEFAULT_MASTER. If the process already has an open session, the
    function uses this session and leaves it open. Spark, Java and local workers put their temporary files into the
    directory `temporary`, if it is given. `memory` is the limit of the driver's Java heap, in GiB.
    """
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    remote = _server(master, remote)
    open_before = SparkSession.getActiveSession()

    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # py4j logs tracebacks of errors that it also raises,
    logging.getLogger().addFilter(_is_not_of_py4j)  # some of them through the root logger
    descriptor, name = tempfile.mkstemp(prefix="epochfuzz-spark-", suffix=".log", dir=temporary)
    log, failed = Path(name), False
    try:
        with _temporary_files_in(temporary):
            spark = None
            try:
                # PySpark leaves a Java process that never ends, if an interruption ends the start of Spark.
                with _same_ctrl_c(), Interruption() as interruption, _output_to(descriptor):
                    spark = _connected(remote) if remote else _started(master, temporary, memory)
                if interruption.happened:
                    raise KeyboardInterrupt
                yield spark
            finally:
                if spark is not None and spark is not open_before:
                    _stop(spark)
    except (PySparkException, Py4JError, ConnectionError) as error:
        if _replaces_interruption(error):
            raise KeyboardInterrupt from None
        failed = True
        if temporary is not None:
            log = Path(shutil.move(log, tempfile.gettempdir()))  # `temporary` is removed afterwards
        raise CampaignError(_complaint(error, log)) from None
    finally:
        os.close(descriptor)
        if not failed:
            log.unlink()


def _stop(spark: "SparkSession") -> None:
    """Stop a session. After an interruption, errors are ignored, because they would replace the interruption."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    is_interrupted = isinstance(sys.exc_info()[1], (KeyboardInterrupt, SystemExit))
    with suppress(*((PySparkException, Py4JError, ConnectionError) if is_interrupted else ())):
        spark.stop()


def _replaces_interruption(error: BaseException) -> bool:
    """Return whether Spark raised an error while it handled an interruption.

    If Ctrl-C ends the reading of a result, PySpark closes the connection to Java (_collect_as_arrow). It then raises
    Java's error about the broken pipe instead of the interruption.
    """
    context = error.__context__
    return context is not None and (isinstance(context, KeyboardInterrupt) or _replaces_interruption(context))


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in Path(record.pathname).parts


@contextmanager
def _same_ctrl_c() -> Iterator[None]:
    """Restore the handler of Ctrl-C when the with statement ends, because Spark installs its own handler.

    Spark's handler first cancels all jobs. The cancellation fails while Python waits for Java, or ends the process with
    the error of a cancelled job. epochfuzz doesn't need the cancellation, because the jobs end with the session.
    """
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def _complaint(error: Exception, log: Path) -> str:
    """Return a message for an error of Spark. If the JVM never started, only the log has the reason."""
    from py4j.protocol import Py4JNetworkError

    logged = log.read_text(encoding="utf-8", errors="replace")
    if "UnsupportedClassVersionError" in logged:
        return _JAVA_REMEDY
    if "All masters are unresponsive" in logged:
        from pyspark import __version__

        reason = f"the master rejects drivers of PySpark {__version__}; start a master of the same version"
    elif isinstance(error, (ConnectionError, Py4JNetworkError)):
        reason = "its Java process ended"
    else:
        reason = sentence(logged if "JAVA_GATEWAY_EXITED" in str(error) else str(error))
    return f"Spark failed: {reason}; its log, {log}, has more"


def destination(master: str | None, remote: str | None) -> str:
    """Return the master or the server that `opened` would use, as text."""
    return _server(master, remote) or master or named_by_spark() or DEFAULT_MASTER


def _server(master: str | None, remote: str | None) -> str | None:
    """Return the Spark Connect server to use, or None. SPARK_REMOTE counts only if no master is given."""
    return remote or (os.environ.get("SPARK_REMOTE") if master is None else None)


def named_by_spark() -> str | None:
    """Return the master that spark-submit or spark-defaults.conf names, or None.

    Under spark-submit the result is only a phrase, because the master is unknown before the session is open.
    """
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return "the master of spark-submit"
    home = os.environ.get("SPARK_HOME")
    folder = os.environ.get("SPARK_CONF_DIR") or (os.path.join(home, "conf") if home else None)
    try:
        lines = Path(folder, "spark-defaults.conf").read_text(encoding="utf-8").splitlines() if folder else []
    except OSError:
        return None
    found = [line.split(None, 1)[1] for line in lines if re.match(r"spark\.master\s+\S", line)]
    return found[-1].strip() if found else None


def _started(master: str | None, temporary: Path | None, memory: float | None) -> "SparkSession":
    from pyspark.sql import SparkSession

    from epochfuzz.harness.campaign.spark import versions

    versions.require_home()
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else "java"
    if shutil.which(java) is None:
        raise CampaignError(f"{java} was not found; {_JAVA_REMEDY}")
    options = dict(_OPTIONS)
    named = named_by_spark() if master is None else None
    if named is None:
        options["spark.app.name"] = "epochfuzz"
    where = master or named or DEFAULT_MASTER
    if memory is not None:
        options["spark.driver.memory"] = f"{memory * 1024:.0f}m"
    if where.startswith("local"):
        options |= _LOCAL_OPTIONS
        if temporary is not None:
            options["spark.driver.extraJavaOptions"] += f" {_java_option('java.io.tmpdir', str(temporary))}"
            if "," not in str(temporary):  # Spark would split the path into two directories
                options["spark.local.dir"] = str(temporary)
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    elif where.startswith("spark://"):
        _require_any([urlsplit(f"spark://{host}") for host in where.removeprefix("spark://").split(",")])
    already_open = SparkSession.getActiveSession()
    if already_open is not None:  # a builder would change its configuration
        if master is not None:
            raise CampaignError("this process already has a Spark session; leave out --master")
        return already_open
    builder = SparkSession.builder if named is not None else SparkSession.builder.master(where)
    for key, value in options.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _java_option(name: str, value: str) -> str:
    """Return a Java option that sets a system property, quoted for Spark's configuration."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"-D{name}={escaped}"'


@contextmanager
def _temporary_files_in(directory: Path | None) -> Iterator[None]:
    """Put temporary files of this process and its children into a directory until the with statement ends.

    If `directory` is None, the function changes nothing.
    """
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
    """Raise CampaignError if none of the servers accepts a connection. Spark itself would retry for minutes."""
    reasons = []
    for server in servers:
        try:
            socket.create_connection((server.hostname or "", server.port or _CONNECT_PORT), timeout=_PATIENCE).close()
        except (OSError, ValueError) as error:
            reasons.append(f"{server.netloc}: {error}")
        else:
            return
    raise CampaignError(
        f"no Spark server accepts connections at {', '.join(reasons)}; start it, or correct the address"
    )


@contextmanager
def _output_to(descriptor: int) -> Iterator[None]:
    """Redirect the stdout and stderr of this process to a file until the with statement ends.

    Processes that start before the end still write to the file afterwards.
    """
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
