# `make fuzz` runs a campaign that finds a lost record. `make check`, `make test`, `make thorough` and `make slow` run
# the tests, from the quickest to the slowest. The first call of any of them installs epochfuzz into .venv.
# Set PYTHON=/path/to/python3.12 or JAVA_HOME to choose another Python or Java.

# The campaign of `make fuzz`. Each run has a new directory, because a campaign does not overwrite another campaign.
MAIN_JOB = .venv/bin/epochfuzz campaign run --out build/campaign-$(shell date +%Y%m%d-%H%M%S) \
	--protocol hw --protocol kip-101 --replicas 2 --for 15s

# `make finding` shows on Kafka itself how a leader that is elected again loses a record. It runs a controller and three
# brokers on this machine. It needs Java and Maven, and prints how to install them. The logs and the timeline stay in
# build/.
FINDING = .venv/bin/epochfuzz cluster run re-elected-leader --out build/finding-$(shell date +%Y%m%d-%H%M%S)

# The open findings on Kafka as unit tests in the style of Kafka's own tests, against the jars of a release. The tests
# fail on a release that has the bugs. TEST=ReElectedLeaderTest runs one class. With REPAIR=missed-epoch, the test of
# this repair runs on bytecode with the repair, and passes. tests/findings/kafka/__main__.py lists the repairs.
RELEASE = 4.3.1

.PHONY: fuzz check test thorough slow newest-hypothesis kafka kafka-exhaustive systems clients finding finding-test disks audit.pyz site clean system
.DELETE_ON_ERROR:

fuzz: .venv/installed
	$(MAIN_JOB)

# Quick tests for every save: rules, cases, declarations and documents. --check skips the tests that compile code or
# start a process. NOT_QUICK lists the paths that contain only such tests, or that run tests of their own.
NOT_QUICK = browser campaign plugin search/complete cli/test_first_finding.py conform/kafka conform/test_machine.py conform/protocol/test_documentation.py
check: .venv/installed
	.venv/bin/python -m pytest --quiet --check $(addprefix --ignore=tests/,$(NOT_QUICK))

# One process runs the tests of campaigns, because they share a Spark session. The other process runs the rest. pytest
# starts the files in their order, because by number of tests the files with few long tests would come last.
PARALLEL = --quiet -n 2 --no-loadscope-reorder

test: .venv/installed
	.venv/bin/python -m pytest $(PARALLEL)

# The tests that take more than about 5 seconds, alone or with the fixture that they share. `.ci/run` runs them after
# `make test`.
thorough: .venv/installed
	.venv/bin/python -m pytest $(PARALLEL) -m 'thorough and not slow'

# The tests that are too long for `.ci/run`.
slow: .venv/installed
	.venv/bin/python -m pytest --quiet -m slow

# The tests of state machines with the newest Hypothesis, in an environment of its own.
newest-hypothesis: .venv/installed
	.venv/bin/python -m venv --clear build/newest-hypothesis
	build/newest-hypothesis/bin/python -m pip install --constraint constraints.txt setuptools
	grep -v '^hypothesis==' constraints.txt > build/newest-hypothesis/constraints.txt
	build/newest-hypothesis/bin/python -m pip install --constraint build/newest-hypothesis/constraints.txt --no-build-isolation --editable '.[development]'
	build/newest-hypothesis/bin/python -m pip install --upgrade hypothesis
	build/newest-hypothesis/bin/python -m pytest --quiet -m 'not slow' tests/plugin tests/model

# Runs the corpus on Kafka's own broker code, release by release, and compares it with the model. It needs a JDK and
# Maven, and prints how to install them. Maven downloads some hundred megabytes of jars at the first run.
kafka: .venv/installed
	.venv/bin/python -m tests.conform.kafka.ladder

# Runs the corpus and each system's own cases on third-party systems. If a system's build tool is missing, the run skips
# the system, and prints what to install. The first run downloads jars and modules. SYSTEM=fluss runs only this system.
systems: .venv/installed
	.venv/bin/python -m tests.systems $(SYSTEM)

# Compares client libraries with the model: librdkafka, aiokafka, kafka-python, franz-go, Sarama and Kafka's Java
# client. If a library's toolchain is missing, its row says what to install. LIBRARY=franz-go tests only this library.
clients: .venv/installed
	.venv/bin/python -m tests.clients $(LIBRARY)

# Runs every transition of the model with 2 replicas, 1 record and 2 epoch changes on Kafka's own code of each release.
# This takes minutes up to 2.6, and hours from 3.4 on. FOR=10m limits the time for each release. The next run continues.
kafka-exhaustive: .venv/installed
	.venv/bin/python -m tests.conform.kafka.exhaustive $(if $(FOR),--for $(FOR))

# Builds the documentation in build/site, with search, a page for each case, and the playground. A broken link is an
# error. The playground needs npm, which downloads Pyodide at the first run. Without npm the site has no playground.
site: .venv/installed
	.venv/bin/python -m mkdocs build --config-file .ci/site/mkdocs.yml

finding: .venv/installed
	$(FINDING)

finding-test: .venv/installed
	.venv/bin/python -m tests.findings.kafka --release $(RELEASE) $(if $(REPAIR),--repair $(REPAIR)) $(TEST)

# Packs the audit for a broker's host into build/audit.pyz, one file that needs only Python 3.11.
audit.pyz: .venv/installed
	.venv/bin/python -m epochfuzz.harness.audit.packing build/audit.pyz

# Records the data directories of 44 clusters of 10 Kafka releases in build/disks. tests/audit/disks/recorded has most
# of them. It takes about 40 minutes, and a stopped run continues at the next call. It needs a JDK and Maven.
disks: .venv/installed
	.venv/bin/python -m tests.audit.disks.record build/disks

clean:
	rm -rf .venv build tests/conform/kafka/target tests/systems/*/target *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache spark-warehouse
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# constraints.txt pins the packages that build epochfuzz (pip, setuptools) and the packages that epochfuzz needs. pip
# ignores constraints in its isolated build environment, so builds use the pinned setuptools of .venv instead.
# To renew the pins: make clean, empty constraints.txt, make .venv/installed, and then
# .venv/bin/pip freeze --all --exclude epochfuzz > constraints.txt
.venv/installed: .venv/bin/python pyproject.toml constraints.txt | system
	.venv/bin/python -m pip install --upgrade --constraint constraints.txt pip setuptools
	.venv/bin/python -m pip install --constraint constraints.txt --no-build-isolation --editable '.[development]'
	touch $@

.venv/bin/python: | system
	"$$(sh .ci/system-check)" -m venv --clear .venv

# An order-only prerequisite: it is checked at every call, but does not cause a new installation.
system:
	@sh .ci/system-check > /dev/null
