"""`python -m tests.conform.subject [--defect NAME]`: the cluster, speaking the conformance protocol."""

import argparse
import json
import sys
from typing import Any

from tests.conform.subject.cluster import Cluster
from tests.conform.subject.defects import DEFECTS
from tests.conform.subject.protocols import PROTOCOLS

EVENTS = (
    *("produce", "fetch", "receive", "drop", "crash", "power_loss", "restart", "notify", "catch_up"),
    *("elect", "expire", "shrink", "expand", "flush", "checkpoint"),
)
WITHOUT = {
    "retries": False,
    "consumer": False,
    "transactions": False,
    "controllers": 1,
    "lag_time": False,
    "delayed_fetch": False,
}


def main() -> None:
    """Serve requests until standard input ends."""
    parser = argparse.ArgumentParser(description="a replicated log to be put under test")
    parser.add_argument("--defect", choices=DEFECTS)
    defect = parser.parse_args().defect
    if defect is not None:
        DEFECTS[defect]()
    cluster = Cluster()
    try:
        for line in sys.stdin:
            print(json.dumps(answer(cluster, json.loads(line))), flush=True)
    finally:
        cluster.close()


def answer(cluster: Cluster, request: dict[str, Any]) -> dict[str, Any]:
    """The reply to a request."""
    if request["op"] == "event":
        return {"applied": cluster.apply(request["event"]), "observation": cluster.observe()}
    if request["protocol"] not in PROTOCOLS:
        return {"ok": False, "error": f"there is {', '.join(PROTOCOLS)}, and no {request['protocol']}"}
    for setting, plain in WITHOUT.items():
        if request["config"].get(setting, plain) != plain:
            return {"ok": False, "error": f"there is no {setting} here"}
    cluster.reset(request["config"], request["protocol"])
    return {"ok": True, "events": EVENTS}


if __name__ == "__main__":
    main()
