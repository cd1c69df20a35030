"""The model's events on a cluster. Each function forwards a message that a proxy holds, or acts on a process.

A function waits for the effect of its event, and returns a description of the effect. It raises Nothing if the event
has no effect in the current state of the brokers and the controller, such as a fetch by a broker that is down. It
raises EventImpossible if the cluster rejects the event, and NotReached if the effect does not appear in time.
"""

import os
from collections.abc import Callable

from epochfuzz.harness.cluster.broker.sockets import unread
from epochfuzz.harness.cluster.gates.frames import RequestKind
from epochfuzz.harness.cluster.gates.gated import LAG, SESSION
from epochfuzz.harness.cluster.gates.metadata import NOBODY
from epochfuzz.harness.cluster.gates.proxy import ProxiedMessage
from epochfuzz.harness.cluster.schedules.stage import SOON, Stage

_FENCED_LEADER_EPOCH = 74  # a follower stops fetching after this error (AbstractFetcherThread.onPartitionFenced)
_FENCED_WITHIN = SESSION * 4
_LAGS_WITHIN = LAG * 2 + 2  # leaders check the ISR at intervals of half the lag time
# The log messages of Partition.submitAlterPartition and its callees about a response, some at DEBUG.
_HEARD = "ISR updated", "Failed to alter", "Failed to update ISR", "Ignoring", "The alter partition request"


class Nothing(Exception):
    """The event has no effect in the current state."""


class EventImpossible(Exception):
    """The cluster rejects the event in the current state."""


def produce(stage: Stage, name: str) -> str:
    """Send the next record to a broker. Waits until the broker's log file has the record, or the broker rejects it."""
    _expect_up(stage, name)
    if not stage.leads(name):
        raise Nothing(f"{name} doesn't consider itself the leader")
    value = f"m{len(stage.sent)}"
    sending = stage.send(value, name)
    stage.until(f"{name} has {value}", lambda: _has(stage, name, value) or sending.refused)
    if sending.refused and not _has(stage, name, value):
        del stage.sent[value]
        raise EventImpossible(sending.refused[0].error)
    return f"{name} has {value}"


def retry(stage: Stage, name: str) -> str:
    """Send the oldest unacknowledged record to the leader `name` again.

    Waits until the leader appends the record again or responds. If an idempotent producer sends a record that the
    leader has, waits until the leader has read the request.
    """
    _expect_up(stage, name)
    known = {each.value for each in stage.acknowledged()}
    value = next((value for value in stage.sent if value not in known), None)
    if value is None or not stage.leads(name):
        raise Nothing("every record is acknowledged" if value is None else f"{name} doesn't consider itself the leader")
    before, has = len(stage.log(name)), _has(stage, name, value)
    sending = stage.send(value, name)
    port = stage.node(name).port

    def is_heard() -> bool:
        is_there = len(stage.log(name)) > before or bool(sending.refused or sending.acknowledged)
        # With `retries`, the producer is idempotent. A leader that has the record does not append it again, and may
        # respond only after followers have fetched. The leader then has the request if it has read all bytes.
        return is_there or (has and stage.settings.retries and unread(os.getpid(), port) == 0)

    stage.until(f"{name} has {value} again", is_heard)
    if sending.refused and len(stage.log(name)) == before:
        raise EventImpossible(sending.refused[0].error)
    return f"{name} has {value} {'again' if len(stage.log(name)) > before else 'already'}"


def fetch(stage: Stage, name: str) -> str:
    """Forward a follower's fetch to its leader.

    Waits until a gate (a proxy) holds the response. If the response is an error, the function forwards the error to the
    follower, and raises EventImpossible.
    """
    _expect_up(stage, name)
    leader = stage.followed(name)
    if leader is None:
        raise Nothing(f"{name} knows no leader to follow")
    if stage.gates.held(RequestKind.FETCH, stage.node(name).number, is_response=True):
        raise Nothing(f"{name} still waits for a response")
    if not stage.is_up(leader):
        raise Nothing(f"{name}'s leader {leader} is down")
    if stage.fenced.get(name) == stage.epoch(name):
        raise Nothing(f"{leader} has fenced {name}'s epoch, and {name} waits for the next epoch")
    request = _fresh_request(stage, name, leader)
    stage.gates.pass_(request)
    (answer,) = stage.until(f"{leader}'s response to {name} is at the gate", lambda: _answers(stage, name, request))
    error = stage.gates.error(answer)
    if error == _FENCED_LEADER_EPOCH:
        stage.fenced[name] = stage.epoch(name)
        stage.gates.pass_(answer)
    elif error:
        _deliver(stage, name, answer)
    if error:
        raise EventImpossible(f"{leader} responds to {name} with error {error}")
    return f"{leader} has responded to {name}: {stage.gates.describe(answer)}"


def receive(stage: Stage, name: str) -> str:
    """Forward the leader's response to a follower.

    Waits until the follower fetches again, or has closed the connection.
    """
    _expect_up(stage, name)
    _deliver(stage, name, _response(stage, RequestKind.FETCH, name, name))
    return f"{name} has {_described(stage, name)}"


def drop(stage: Stage, name: str) -> str:
    """Lose the leader's response to a follower, by closing the connection between them."""
    stage.gates.drop(_response(stage, RequestKind.FETCH, name, name))
    return f"the response to {name} is lost"


def crash(stage: Stage, name: str) -> str:
    """Kill a broker with SIGKILL."""
    _expect_running(stage, name)
    stage.node(name).kill()
    stage.gates.forget(stage.node(name).number)
    stage.returning.pop(name, None)
    return f"{name} is down"


def restart(stage: Stage, name: str) -> str:
    """Start the process of a broker that is down. The broker learns no new metadata before the event `register`."""
    node = stage.node(name)
    if node.state != "down":
        raise Nothing(f"{name} is up")
    stage.returning[name] = stage.cluster.start_again(node)
    return f"{name} starts"


def register(stage: Stage, name: str) -> str:
    """Wait until the controller has registered and unfenced a restarted broker, and the broker knows all metadata.

    The broker retries its registration until the session of its former process is over.
    """
    _expect_running(stage, name)
    node, cluster = stage.node(name), stage.cluster
    if name not in stage.returning:
        raise Nothing(f"{name} is registered")
    stage.gates.open(RequestKind.METADATA, node.number)
    stage.gates.open(RequestKind.HEARTBEAT, node.number)
    stage.wait_for_return(name)
    cluster.shut(node)
    stage.learned[name] = cluster.metadata.end
    return f"{name} is back, and knows the current leader and ISR"


def notify(stage: Stage, name: str) -> str:
    """Let a broker learn the next leader epoch, and all metadata updates before the following leader epoch.

    If there is no next leader epoch, the broker learns all remaining metadata updates.
    """
    _expect_up(stage, name)
    epochs = [each.offset for each in stage.pending(name) if each.opens_epoch]
    return _learn(stage, name, epochs[1] if len(epochs) > 1 else stage.cluster.metadata.end)


def catch_up(stage: Stage, name: str) -> str:
    """Let a broker learn all metadata up to now, in one response."""
    _expect_up(stage, name)
    return _learn(stage, name, stage.cluster.metadata.look().end)


def elect(stage: Stage, name: str) -> str:
    """Let the controller elect the replica `name`.

    If the current leader is down, the function waits until the controller has fenced that broker, because the
    controller may then elect `name` without a request. If `name` still does not lead, the function requests the
    election of `name`.
    """
    partition, number = stage.partition(), stage.node(name).number
    if partition.leader == number:
        raise Nothing(f"{name} already leads, according to the controller")
    leader = stage.cluster.named(partition.leader)
    if partition.leader != NOBODY and not stage.is_up(leader):
        _wait_for_fence(stage, leader)
        partition = stage.partition()
        if partition.leader == number:
            return f"{leader}'s session has ended: {name} leads epoch {partition.epoch}"
    is_member = number in partition.isr
    if not stage.cluster.is_unfenced(stage.node(name)):
        raise EventImpossible(f"{name} is fenced")
    if not is_member and not (partition.leader == NOBODY and stage.settings.unclean_leader_election):
        raise EventImpossible(f"{name} is not in the ISR: {_decided(stage)}")
    if partition.replicas[0] != number:  # the first replica is the preferred leader
        others = [each for each in partition.replicas if each != number]
        stage.cluster.at_controller.order(stage.topic, [number, *others])
    why = stage.cluster.at_controller.elect(stage.topic, unclean=not is_member)
    if why and stage.partition().leader != number:
        raise EventImpossible(why)
    stage.until(f"{name} is elected", lambda: stage.partition().leader == number)
    return f"{name} leads epoch {stage.partition().epoch}"


def expire(stage: Stage, name: str) -> str:
    """Hold a broker's heartbeats, and wait until the controller fences the broker."""
    if not stage.cluster.is_unfenced(stage.node(name)):
        raise Nothing(f"{name} is fenced")
    stage.gates.shut(RequestKind.HEARTBEAT, stage.node(name).number)
    _wait_for_fence(stage, name)
    return f"{name} is fenced: {_decided(stage)}"


def unfence(stage: Stage, name: str) -> str:
    """Forward a broker's heartbeats again, and wait until the controller unfences the broker."""
    _expect_up(stage, name)
    if stage.cluster.is_unfenced(stage.node(name)):
        raise Nothing(f"{name} is not fenced")
    stage.gates.open(RequestKind.HEARTBEAT, stage.node(name).number)
    stage.cluster.wait_for_unfenced(stage.node(name))
    return f"the controller has unfenced {name} again"


def shutdown(stage: Stage, name: str) -> str:
    """Start a controlled shutdown with SIGTERM, and wait until the controller permits it.

    A broker that leads no partition is fenced at once, and exits. A broker that leads partitions continues until the
    other brokers have learned their new leaders.
    """
    _expect_up(stage, name)
    before, number = len(stage.cluster.metadata.look().decisions), stage.node(name).number
    stage.node(name).terminate()
    stage.until(
        f"the controller lets {name} shut down",
        lambda: any(each.is_of(number) for each in stage.cluster.metadata.look().decisions[before:]),
    )
    return f"{name} is shutting down: {_decided(stage)}"


def shrink(stage: Stage, name: str) -> str:
    """Wait until the leader proposes an ISR without the follower `name`."""
    leader, number = _leader(stage), stage.node(name).number
    if number not in stage.partition().isr or leader == name:
        raise Nothing(f"{name} is not a follower in the ISR")
    return _proposed(stage, leader, lambda proposed: number not in proposed, _LAGS_WITHIN, f"without {name}")


def expand(stage: Stage, name: str) -> str:
    """Forward a follower's fetches until the leader proposes an ISR that includes the follower.

    The leader checks a follower only when the follower fetches.
    """
    leader, number = _leader(stage), stage.node(name).number
    if number in stage.partition().isr:
        raise Nothing(f"{name} is in the ISR")
    if stage.followed(name) != leader:
        raise Nothing(f"{name} does not consider {leader} its leader")
    if not stage.knows_unfenced(leader, number):
        raise Nothing(f"{leader} considers {name} fenced")

    def let_fetch() -> None:
        for is_response in (False, True):
            for message in stage.gates.held(RequestKind.FETCH, number, is_response):
                stage.gates.pass_(message)

    return _proposed(stage, leader, lambda proposed: number in proposed, SOON, f"with {name}", let_fetch)


def alter(stage: Stage, name: str) -> str:
    """Forward a leader's ISR proposal to the controller. Waits until a gate (a proxy) holds the response."""
    _expect_up(stage, name)
    number, proposed = stage.node(name).number, stage.proposal(name)
    if proposed is None:
        raise Nothing(f"{name} proposes no ISR")
    stage.gates.pass_(stage.gates.held(RequestKind.ALTER, number)[0])
    (answer, *_) = stage.until(
        f"the response to {name}'s proposal is at the gate", lambda: stage.gates.held(RequestKind.ALTER, number, True)
    )
    error = stage.gates.error(answer)
    told = f"rejected with error {error}" if error else "accepted"
    return f"{name}'s proposed ISR {stage.names(proposed)} is {told}: {_decided(stage)}"


def altered(stage: Stage, name: str) -> str:
    """Forward the controller's response to an ISR proposal. Waits until the leader has logged the response."""
    _expect_up(stage, name)
    answer = _response(stage, RequestKind.ALTER, name, f"{name}'s proposal")
    size = stage.node(name).log.path.stat().st_size
    stage.gates.pass_(answer)
    stage.until(f"{name} has logged the response", lambda: _has_logged(stage, name, size))
    return f"{name} has received the response"


def resend(stage: Stage, name: str) -> str:
    """Lose the response to an ISR proposal. Waits until the leader sends the proposal again."""
    _expect_up(stage, name)
    stage.gates.drop(_response(stage, RequestKind.ALTER, name, f"{name}'s proposal"))
    stage.until(f"{name} proposes again", lambda: stage.proposal(name) is not None)
    return f"{name} sends its proposal again"


def _expect_up(stage: Stage, name: str) -> None:
    _expect_running(stage, name)
    if not stage.is_up(name):
        raise Nothing(f"{name} is not registered")


def _expect_running(stage: Stage, name: str) -> None:
    if stage.node(name).state != "running":
        raise Nothing(f"{name} is down")


def _leader(stage: Stage) -> str:
    leader = stage.leader()
    if leader is None:
        raise Nothing("no broker considers itself the leader")
    return leader


def _has(stage: Stage, name: str, value: str) -> bool:
    return any(record.value == value for record in stage.log(name))


def _described(stage: Stage, name: str) -> str:
    return " ".join(f"{record.value}@{record.epoch}" for record in stage.log(name)) or "nothing"


def _decided(stage: Stage) -> str:
    partition = stage.partition()
    leader = "nobody" if partition.leader == NOBODY else stage.cluster.named(partition.leader)
    return f"{leader} leads epoch {partition.epoch}, ISR {stage.names(partition.isr)}"


def _fresh_request(stage: Stage, name: str, leader: str) -> ProxiedMessage:
    """Wait until a gate (a proxy) holds a follower's fetch in the follower's last logged epoch, and return the fetch.

    The function drops fetches with other epochs, so that the follower fetches again.
    """
    number = stage.node(name).number

    def find() -> list[ProxiedMessage]:
        for message in stage.gates.held(RequestKind.FETCH, number):
            if message.connection.proxy.target != leader:
                continue
            if stage.gates.asked_epoch(message, stage.cluster.metadata.topics[stage.topic]) == stage.epoch(name):
                return [message]
            stage.gates.drop(message)
        return []

    return stage.until(f"{name} asks {leader} in epoch {stage.epoch(name)}", find)[0]


def _response(stage: Stage, kind: RequestKind, name: str, what: str) -> ProxiedMessage:
    """Return the response that a gate (a proxy) holds for a broker. Raises Nothing, which names the request `what`."""
    answers = stage.gates.held(kind, stage.node(name).number, is_response=True)
    if not answers:
        raise Nothing(f"no response to {what} is in flight")
    return answers[0]


def _answers(stage: Stage, name: str, request: ProxiedMessage) -> list[ProxiedMessage]:
    answers = stage.gates.held(RequestKind.FETCH, stage.node(name).number, is_response=True)
    if not answers and request.connection.is_closed:
        raise EventImpossible(f"{name} no longer waits for the response")
    return answers


def _deliver(stage: Stage, name: str, answer: ProxiedMessage) -> None:
    stage.gates.pass_(answer)
    number = stage.node(name).number
    stage.until(
        f"{name} asks again", lambda: stage.gates.held(RequestKind.FETCH, number) or answer.connection.is_closed
    )


def _learn(stage: Stage, name: str, end: int) -> str:
    pending = [each for each in stage.pending(name) if each.offset < end]
    if not pending:
        raise Nothing(f"{name} knows the current leader and ISR")
    node, epoch = stage.node(name), stage.epoch(name)
    stage.gates.limit(node.number, end)
    stage.until(f"{name} has fetched the metadata", lambda: (stage.cluster.asks_beyond(node) or 0) >= end)
    stage.learned[name] = end
    if any(each.opens_epoch for each in pending):
        stage.until(f"{name} leads or follows in a new epoch", lambda: stage.epoch(name) > epoch)
    elif not stage.gates.is_shut(RequestKind.HEARTBEAT, node.number):
        stage.until(f"{name} has applied the metadata", lambda: stage.gates.applied[node.number] >= end - 1)
    role = stage.role(name)
    assert role is not None
    does = "leads" if role.kind == "leader" else f"follows {stage.followed(name) or 'nobody'}"
    updates = "1 update" if len(pending) == 1 else f"{len(pending)} updates"
    return f"{name} learns {updates}: it {does}, epoch {role.epoch}"


def _wait_for_fence(stage: Stage, name: str) -> None:
    node = stage.node(name)
    stage.until(f"{name}'s session ends", lambda: not stage.cluster.is_unfenced(node), _FENCED_WITHIN)


def _proposed(
    stage: Stage,
    leader: str,
    is_meant: Callable[[tuple[int, ...]], bool],
    seconds: float,
    what: str,
    meanwhile: Callable[[], None] = lambda: None,
) -> str:
    other = stage.proposal(leader)
    if other is not None and not is_meant(other):
        raise Nothing(f"{leader} has proposed the ISR {stage.names(other)}, and waits for the response")
    if stage.gates.held(RequestKind.ALTER, stage.node(leader).number, is_response=True):
        raise Nothing(f"{leader} has not received the response to its proposal")

    def find() -> tuple[int, ...] | None:
        proposed = stage.proposal(leader)
        if proposed is None:
            meanwhile()
        return proposed

    proposed = stage.until(f"{leader} proposes an ISR {what}", find, seconds)
    assert proposed is not None
    if not is_meant(proposed):
        raise EventImpossible(f"{leader} proposes the ISR {stage.names(proposed)}")
    return f"{leader} proposes the ISR {stage.names(proposed)}"


def _has_logged(stage: Stage, name: str, size: int) -> bool:
    with stage.node(name).log.path.open("rb") as file:
        file.seek(size)
        new = file.read().decode(errors="replace").splitlines()
    return any(stage.name in line and any(word in line for word in _HEARD) for line in new)


Play = Callable[[Stage, str], str]

# The supported events by name. The model's other events need a second controller or transactions, or cannot be carried
# out on processes of one machine.
EVENTS: dict[str, Play] = {
    each.__name__: each
    for each in (
        produce,
        retry,
        fetch,
        receive,
        drop,
        crash,
        restart,
        register,
        notify,
        catch_up,
        elect,
        expire,
        unfence,
        shutdown,
        shrink,
        expand,
        alter,
        altered,
        resend,
    )
}
