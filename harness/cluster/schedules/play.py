"""Play a schedule on a cluster with gates, on a new topic, and determine the result."""

import time
from collections.abc import Callable, Sequence

from confluent_kafka import KafkaException

from epochfuzz.harness.cluster.broker.clients import read_all
from epochfuzz.harness.cluster.errors import NotReached
from epochfuzz.harness.cluster.gates.frames import RequestKind
from epochfuzz.harness.cluster.gates.gated import GatedCluster
from epochfuzz.harness.cluster.schedules.events import EVENTS, EventImpossible, Nothing
from epochfuzz.harness.cluster.schedules.stage import Stage, TopicSettings
from epochfuzz.harness.cluster.timeline import ScenarioRun
from epochfuzz.harness.documents.cluster_records import (
    ConsumedRecord,
    Ended,
    EventOutcome,
    ObservedState,
    PlayedEvent,
    Playing,
)

_HEALS_WITHIN = 60.0  # seconds
_DUE_WITHIN = 2.0  # the high watermark should rise within milliseconds


def play(
    cluster: GatedCluster,
    settings: TopicSettings,
    schedule: Sequence[str],
    say: Callable[[str], None] = lambda line: None,
) -> Playing:
    """Play a schedule of event texts on a new topic. Then stop all faults, and return the results with a verdict.

    `say` receives a line for each event. Raises ClusterError if the cluster breaks down, and NotReached if it cannot
    prepare the topic.
    """
    began = time.monotonic()
    playing = Playing()
    stage = Stage(cluster, settings)
    try:
        stage.set_up()
        if _play(stage, schedule, playing, say):
            _look_for_what_is_due(stage, playing)
        _heal(stage, playing)
        _judge(stage, playing)
    finally:
        cluster.open_all()
    reset(cluster, stage.topic)
    playing.seconds = time.monotonic() - began
    return playing


def reset(cluster: GatedCluster, topic: str) -> None:
    """Delete a topic, and wait until no broker has its data. Raises NotReached."""
    known = cluster.metadata.look().topics.get(topic)
    if known is not None:
        cluster.at_controller.delete_topic(known)
        cluster.until(
            f"topic {topic} is gone",
            lambda: not any((broker.data / f"{topic}-0").exists() for broker in cluster.brokers.values()),
            _HEALS_WITHIN,
        )


def _play(stage: Stage, schedule: Sequence[str], playing: Playing, say: Callable[[str], None]) -> bool:
    """Play the events in order, and add each to `playing`. Returns False if an event's effect does not appear in time.

    Stops after such an event.
    """
    for number, event in enumerate(schedule, start=1):
        verb, _, name = event.partition(" ")
        began = time.monotonic()
        try:
            outcome, what = EventOutcome.DONE, EVENTS[verb](stage, name)
            stage.look()
        except Nothing as nothing:
            outcome, what = EventOutcome.NOTHING, str(nothing)
        except EventImpossible as refused:
            outcome, what = EventOutcome.REFUSED, str(refused)
        except NotReached as error:
            outcome, what = EventOutcome.NOT_DONE, str(error)
        step = PlayedEvent(
            number=number, event=event, outcome=outcome, what=what, seconds=time.monotonic() - began, seen=_seen(stage)
        )
        playing.steps.append(step)
        say(f"{number:>3}  {event:<11} {'' if outcome is EventOutcome.DONE else f'{outcome.value}: '}{what}")
        if outcome is EventOutcome.NOT_DONE:
            playing.ended = Ended.NOT_REACHED
            playing.why = f"the cluster did not do `{event}` at step {number}: {what}"
            return False
    return True


def _seen(stage: Stage) -> ObservedState:
    partition = stage.partition()
    return ObservedState(
        {name: tuple(record.value for record in stage.log(name)) for name in stage.brokers},
        None if partition.leader < 0 else stage.cluster.named(partition.leader),
        tuple(sorted(stage.cluster.named(number) for number in partition.isr)),
    )


def _look_for_what_is_due(stage: Stage, playing: Playing) -> None:
    """Set the result STUCK if the leader is the only member of the ISR, but consumers cannot read its whole log.

    Checks only a leader that knows all metadata, has no pending ISR proposal, and has min.insync.replicas=1.
    """
    partition, leader = stage.partition(), stage.leader()
    if leader is None or stage.epoch(leader) != partition.epoch or stage.pending(leader):
        return
    number = stage.node(leader).number
    if (
        partition.isr != (number,)
        or stage.settings.min_insync_replicas > 1
        or stage.gates.has(RequestKind.ALTER, number)
    ):
        return
    end = len(stage.log(leader))

    def shows_all() -> bool:
        stage.look()
        return len(stage.readable) >= end

    try:
        stage.until(f"consumers can read the whole log of {leader}", shows_all, _DUE_WITHIN)
    except NotReached:
        playing.ended = Ended.STUCK
        playing.why = f"{leader} is the whole ISR and has {end} records; a consumer can read {len(stage.readable)}"


def _heal(stage: Stage, playing: Playing) -> None:
    """Stop all faults: open all gates, and start dead brokers.

    Then waits until all replicas are in sync and have equal logs. Sets the result DIVERGED if this takes too long.
    """
    cluster = stage.cluster
    cluster.open_all()
    for node in cluster.brokers.values():
        if node.state == "ending":
            cluster.wait_for_end(node)
    for node in cluster.brokers.values():
        if node.state == "down":
            stage.returning[node.name] = cluster.start_again(node)
    for name in [*stage.returning]:  # a slow start is not a divergence, even if the broker stayed in the ISR
        stage.wait_for_return(name)
    try:
        stage.until("all replicas are in sync", lambda: _is_whole(stage), _HEALS_WITHIN)
        stage.until("all logs are the same", lambda: _logs_are_equal(stage))
        stage.until("consumers can read all records", lambda: stage.shown() == len(stage.log("A")))
    except NotReached as error:
        if playing.ended is not Ended.NOT_REACHED:
            playing.ended, playing.why = Ended.DIVERGED, str(error)


def _is_whole(stage: Stage) -> bool:
    partition = stage.partition()
    return (
        partition.leader >= 0
        and len(partition.isr) == len(stage.brokers)
        and all(stage.cluster.is_unfenced(node) for node in stage.cluster.brokers.values())
        and stage.leads(stage.cluster.named(partition.leader))
    )


def _logs_are_equal(stage: Stage) -> bool:
    first, *others = (stage.log(name) for name in stage.brokers)
    return all(other == first for other in others)


def _judge(stage: Stage, playing: Playing) -> None:
    """Set the result LOST if a new consumer does not read all records that were acknowledged or read before.

    A schedule keeps its result if it stopped early or diverged.
    """
    try:
        left: list[ConsumedRecord] = read_all(stage.node("A").address, stage.topic)
    except KafkaException as error:
        raise NotReached(f"a new consumer cannot read: {error.args[0].str()}") from None
    run = ScenarioRun()
    run.judge(stage.acknowledged(), left)
    there = {each.offset: each.value for each in left}
    playing.acknowledged, playing.lost = run.acknowledged, run.lost
    playing.left = [each.value for each in left]
    playing.unread = [
        f"{value}@{offset}"
        for offset, values in sorted(stage.readable.items())
        for value in sorted(values)
        if there.get(offset) != value
    ]
    if playing.ended in (Ended.KEPT, Ended.STUCK) and (playing.lost or playing.unread):
        playing.ended = Ended.LOST
        playing.why = _lost(playing)


def _lost(playing: Playing) -> str:
    acknowledged = ", ".join(f"{loss.value}@{loss.offset}" for loss in playing.lost)
    told = [f"acknowledged and gone: {acknowledged}"] if acknowledged else []
    return "; ".join([*told, *([f"could be read and is gone: {', '.join(playing.unread)}"] if playing.unread else [])])
