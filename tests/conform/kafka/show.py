"""`python -m tests.conform.kafka.show CASE RELEASE ...`: show the state of Kafka's code after each event of a case."""

import argparse
import sys
from typing import Any

from rich.console import Console
from rich.table import Table

from epochfuzz.harness.cases.case import Case, load_case, log_texts
from epochfuzz.harness.conform.protocol import wire
from epochfuzz.harness.conform.protocol.subject import CommandSubject
from epochfuzz.model.kafka.vocabulary.events import REPLICA_NAMES, schedule_texts
from tests.conform.kafka.ladder import PATIENCE


def main() -> None:
    """Replay a case file on releases, and print the observations."""
    parser = argparse.ArgumentParser(prog="python -m tests.conform.kafka.show", description=__doc__)
    parser.add_argument("case", type=load_case)
    parser.add_argument("release", nargs="+")
    parser.add_argument(
        "--protocol", default="kip-320", help="the protocol to send; it may contain mechanisms of the adapter"
    )
    given = parser.parse_args()
    out = Console(width=None if sys.stdout.isatty() else 150, highlight=False)
    for release in given.release:
        out.print(_shown(given.case, release, given.protocol))


def _shown(case: Case, release: str, protocol: str) -> Table:
    names = REPLICA_NAMES[: case.settings.replicas]
    table = Table("", "event", *names, "controller", title=f"{case.id} on Kafka {release}")
    with CommandSubject([sys.executable, "-m", "tests.conform.kafka", release], PATIENCE) as subject:
        subject.reset(wire.config_of(case.settings), protocol)
        for number, event in enumerate(schedule_texts(case.events), start=1):
            applied = subject.apply(event)
            seen: dict[str, Any] = dict(subject.observe())
            replicas = (_replica(seen["replicas"][name]) for name in names)
            controller = seen["controller"]
            decided = f"{controller['leader']} e{controller['epoch']}, ISR {','.join(controller['isr'])}"
            table.add_row(str(number), event, *replicas, decided, style="" if applied else "dim")
    return table


def _replica(seen: dict[str, Any]) -> str:
    log = " ".join(log_texts(seen["log"])) or "-"
    if not seen["up"]:
        return f"{log} HW {seen['hw']}, down"
    known = seen.get("own", {}).get("remote_leo")
    remote = (
        f", knows {', '.join(f'{name} {leo}' for name, leo in known.items()) or 'nothing'}" if known is not None else ""
    )
    return f"{log} HW {seen['hw']}, follows {seen['leader']} e{seen['leader_epoch']}{remote}"


if __name__ == "__main__":
    main()
