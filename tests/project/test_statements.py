"""Wrong statements that the project has published, and the sources that contradict them."""

import re

import pytest

from tests.documents.pages import PAGES, ROOT

# A phrase of each wrong statement, and the source that contradicts it: a line at a tag of Kafka, an issue, or a log.
WRONG = {
    "since 0.10.0.0; seen": "KAFKA-2721 is in 0.9.0.0: Partition.scala, lines 180 to 195",
    "release of Kafka since 0.10,": "KAFKA-2721 is in 0.9.0.0: Partition.scala, lines 180 to 195",
    "Nothing is logged at WARN or ERROR by": "tests/audit/logs/re-elected-leader-*: WARN and ERROR",
    "the rolling restart reaches A": "BrokerHeartbeatManager 4.3.1, line 463: a shutdown waits for A",
    "first production-ready KRaft": "KIP-833: it is 3.3.1, not 3.3.2",
    "Kafka 1.0 to 2.3 set it": "KAFKA-3978 is in 1.0.2 and 1.1.0: Replica.scala, line 175",
    "KIP-595, 2.7": "KAFKA-10554 is in 2.8.0 only",
    "KAFKA-7415, since Kafka 2.1": "2.0.1 has it (18b25773b11)",
    "KAFKA-7128, since Kafka 2.1": "2.0.1 has it (7a352117c20)",
    "3.2.2 and 3.3 (KAFKA-14154)": "ReplicationControlManager 3.2.3, line 831: FENCED_LEADER_EPOCH",
    "on by default since Kafka 3.0 (KIP-679)": "KAFKA-13598: ProducerConfig.idempotenceEnabled of 3.0.0 and 3.1.0",
    "and a live one was not": "PartitionChangeBuilder 4.0.1, line 315: nothing is returned there (KAFKA-19522)",
    "which stands for all up to 4.0": "versions.py: kafka-3.7 is 3.7.0 to 3.9.0 and 4.0.0",
    "in a cluster has not been shown": "docs/how-to/kafka.md: re-elected-leader-after-a-crash is LOST",
    "cases that can be run": "a replay of the corpus leaves out cases by release: 47, 54 or 58",
    "last release in which a replica without": "kafka-3.7 breaks join-complete: docs/reference/releases.md",
    "Spin at random": "-DT_RAND is a depth-first search in random order, not a random walk",
    "one specification at a time": "hachikuji's Kip320 extends Kip279, which extends KafkaReplication",
    "paused or truncate from": "a search-and-replace of cut",
    "responses one too high": "a search-and-replace of answers",
}
FILES = [
    *PAGES,
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "harness" / "reference").rglob("*.yaml")),
    *sorted((ROOT / "corpus").rglob("*.yaml")),
]
TEXTS = {file: re.sub(r"\s+", " ", file.read_text(encoding="utf-8")) for file in FILES}


@pytest.mark.parametrize("phrase", WRONG)
def test_no_page_has_a_statement_that_a_source_contradicts(phrase: str) -> None:
    pages = [str(file.relative_to(ROOT)) for file, text in TEXTS.items() if phrase.lower() in text.lower()]
    assert pages == [], WRONG[phrase]
