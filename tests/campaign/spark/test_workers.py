"""Workers find the code of the campaign, on this machine and on others."""

import subprocess
import sys

import pytest
from pyspark import cloudpickle

from epochfuzz.harness.campaign.spark import bootstrap, workers
from epochfuzz.harness.environment.version import model_digest
from tests.campaign.conftest import parameters

WORKER = """
import pickle, sys
run = pickle.load(sys.stdin.buffer)
assert "epochfuzz" not in sys.modules
assert list(run(iter([]))) == []
import epochfuzz
print(epochfuzz.__file__)
"""


@pytest.mark.thorough
def test_a_worker_that_shares_no_files_unpacks_the_sources(tmp_path):
    where, run_task = workers.zip_of_sources(), bootstrap.run_task
    text = parameters().text()

    def run(batches):
        return run_task(where, "do_blocks", text, batches)

    (tmp_path / "epochfuzz").mkdir()
    (tmp_path / "epochfuzz").chmod(0o777)
    environment = {"XDG_CACHE_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    places = [
        subprocess.run(
            [sys.executable, "-I", "-c", WORKER],
            input=cloudpickle.dumps(run),
            env=environment,
            cwd=tmp_path,
            check=True,
            capture_output=True,
        ).stdout.decode()
        for _ in range(2)
    ]
    assert places == [f"{tmp_path}/epochfuzz/sources/{where[0]}/epochfuzz/__init__.py\n"] * 2
    assert (tmp_path / "epochfuzz").stat().st_mode & 0o777 == 0o700  # nobody else may change what workers execute


def test_the_zip_of_the_sources_is_deterministic():
    assert workers.zip_of_sources() == workers.zip_of_sources()


def test_only_workers_of_a_local_master_share_the_files_of_the_driver():
    assert all(map(workers.is_local, ("local", "local[2]", "local[*,4]")))
    assert not any(map(workers.is_local, ("local-cluster[2,1,1024]", "spark://host:7077", "yarn", "k8s://host", "")))


def test_parameters_keep_a_model_digest_that_differs_from_this_model():
    assert parameters(model="0" * 16).model != model_digest()
