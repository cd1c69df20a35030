# `make fuzz` finds the lost record by itself. `make check`, `make test`, `make thorough` and `make slow` run the tests,
# from the quickest to the slowest. Each first installs into .venv, once.
# PYTHON=/path/to/python3.12 and JAVA_HOME are honoured.

# The main job. The directory is new for every run: a campaign does not write over another.
MAIN_JOB = .venv/bin/epochfuzz campaign run --out build/campaign-$(shell date +%Y%m%d-%H%M%S) \
	--protocol hw --protocol kip-101 --replicas 2 --for 15s

# The record that a re-elected leader loses, on Kafka itself: a controller and three brokers on this machine. It needs
# Java and Maven, and says how to get them. The logs and the timeline stay in build/.
FINDING = .venv/bin/epochfuzz cluster run re-elected-leader --out build/finding-$(shell date +%Y%m%d-%H%M%S)

# The open findings on Kafka as unit tests in the style of Kafka's own tests, against the jars of a release. The tests
# fail on a release that has the bugs. TEST=ReElectedLeaderTest runs one class. With REPAIR=missed-epoch, the test of
# this repair runs on bytecode with the repair, and passes. tests/findings/kafka/__main__.py lists the repairs.
RELEASE = 4.3.1

.PHONY: fuzz check test thorough slow newest-hypothesis kafka kafka-exhaustive systems clients finding finding-test disks audit.pyz site clean system
.DELETE_ON_ERROR:

fuzz: .venv/installed
	$(MAIN_JOB)

# For every save: rules, cases, declarations, documents. What compiles or starts a process is skipped; what does so from
# beginning to end, or runs tests of its own, is not even looked at.
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

# The corpus on Kafka's own broker code, release by release, beside the model. It needs a JDK and Maven, and says how to
# get them; Maven fetches some hundred megabytes of jars, once.
kafka: .venv/installed
	.venv/bin/python -m tests.conform.kafka.ladder

# The corpus, and cases of their own, on systems that nobody here wrote. What cannot be built for want of a tool is left
# out, and it is said what to install; jars and modules are fetched once. SYSTEM=fluss runs those alone.
systems: .venv/installed
	.venv/bin/python -m tests.systems $(SYSTEM)

# Client libraries against the model: a table of librdkafka, aiokafka, kafka-python, franz-go, Sarama and Kafka's Java
# client. A library whose toolchain is missing is a row that says what to install. LIBRARY=franz-go tests only that one.
clients: .venv/installed
	.venv/bin/python -m tests.clients $(LIBRARY)

# Every transition of the model with 2 replicas, 1 record and 2 epoch changes, on Kafka's own code of each release:
# minutes up to 2.6, hours from 3.4 on. FOR=10m plays so long on each; the next time goes on from there.
kafka-exhaustive: .venv/installed
	.venv/bin/python -m tests.conform.kafka.exhaustive $(if $(FOR),--for $(FOR))

# The documentation as pages, with search, every case to step through and the playground, in build/site. A broken link
# fails. The playground needs npm, which loads Pyodide once; without npm the site has no playground.
site: .venv/installed
	.venv/bin/python -m mkdocs build --config-file .ci/site/mkdocs.yml

finding: .venv/installed
	$(FINDING)

finding-test: .venv/installed
	.venv/bin/python -m tests.findings.kafka --release $(RELEASE) $(if $(REPAIR),--repair $(REPAIR)) $(TEST)

# The audit for a broker's host, in build/audit.pyz: one file that needs Python 3.11 and nothing else.
audit.pyz: .venv/installed
	.venv/bin/python -m epochfuzz.harness.audit.packing build/audit.pyz

# Data directories of 44 clusters, of 10 releases of Kafka, in build/disks; tests/audit/disks/recorded has most of them.
# It takes about 40 minutes, and continues where it was stopped. It needs a JDK and Maven.
disks: .venv/installed
	.venv/bin/python -m tests.audit.disks.record build/disks

clean:
	rm -rf .venv build tests/conform/kafka/target tests/systems/*/target *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache spark-warehouse
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# constraints.txt pins what builds (pip, setuptools) as well as what runs. pip builds a distribution in an isolated
# environment that constraints do not reach, so builds use the pinned setuptools of .venv instead.
# To renew the pins: make clean, empty constraints.txt, make .venv/installed, and then
# .venv/bin/pip freeze --all --exclude epochfuzz > constraints.txt
.venv/installed: .venv/bin/python pyproject.toml constraints.txt | system
	.venv/bin/python -m pip install --upgrade --constraint constraints.txt pip setuptools
	.venv/bin/python -m pip install --constraint constraints.txt --no-build-isolation --editable '.[development]'
	touch $@

.venv/bin/python: | system
	"$$(sh .ci/system-check)" -m venv --clear .venv

# Order-only: checked at every call, but no reason to install again.
system:
	@sh .ci/system-check > /dev/null
