"""The narrative of Kafka 2.7 to 4.1: changes of the ISR by request, fetches that diverge, fencing and the ELR."""

import pytest

from tests.views.narrating import COMMITTED, last_sentence, run, scenes

SHRINKS = "produce A, shrink B"
AGAIN = "restart {0}, expire {0}, register {0}, notify {0}, unfence {0}"
B_LOST_ITS_LOG = f"{COMMITTED}, power_loss B, restart B, expire B, register B"
REFUSED = "fetch B, expire B, unfence B, notify A, expire B, expand B, produce A"


@pytest.mark.parametrize(
    ("protocol", "schedule", "sentence"),
    [
        (
            "kip-497",
            SHRINKS,
            "A proposes to drop B from the ISR, to be A: it has not heard from B, and its own LEO is 1; "
            "its AlterPartition request is on its way.",
        ),
        (
            "kip-841",
            "expire B, unfence B, notify B, notify A, fetch B, expire B, expand B",
            "A proposes to take B into the ISR, to be A,B: it has seen B at offset 0, and its own HW is 0; "
            "its AlterPartition request is on its way.",
        ),
        (
            "kip-903",
            "fetch B, expire B, unfence B, notify A, crash B, restart B, expire B, register B, expand B",
            "A proposes to take B into the ISR, to be A,B: it has seen B at offset 0, before it restarted, "
            "and its own HW is 0; its AlterPartition request is on its way.",
        ),
        ("kip-497", f"{SHRINKS}, alter A", "The controller applies A's proposal: ISR A."),
        (
            "kip-497",
            f"{SHRINKS}, alter A, altered A",
            "A learns that its proposal is applied: its ISR is now A; A's HW rises to 1; "
            "m0 is committed and acknowledged.",
        ),
        (
            "kip-497",
            f"{SHRINKS}, elect B, alter A",
            "The controller refuses A's proposal of ISR A: it is at epoch 1 by now (FENCED_LEADER_EPOCH).",
        ),
        (
            "kip-903",
            f"{SHRINKS}, expire B, alter A",
            "The controller refuses A's proposal of ISR A: the partition has changed since (INVALID_UPDATE_VERSION).",
        ),
        (
            "kip-497",
            f"{SHRINKS}, elect B, alter A, altered A",
            "A's proposal is refused: ISR A stays pending until the next update.",
        ),
        (
            "kip-497:isr_version=unchecked",
            f"{SHRINKS}, elect B, alter A",
            "The controller applies A's proposal: ISR A, although the partition is not as A knew it.",
        ),
        (
            "kip-966",
            "fetch B, expire B, unfence B, notify A, expire B, expand B, alter A",
            "The controller rejects A's proposal of ISR A,B: B is fenced (INELIGIBLE_REPLICA).",
        ),
        (
            "kip-903",
            f"fetch B, expire B, unfence B, notify A, crash B, {AGAIN.format('B')}, expand B, alter A",
            "The controller rejects A's proposal of ISR A,B: B has restarted since A heard from it "
            "(INELIGIBLE_REPLICA).",
        ),
        (
            "kip-966",
            "fetch B, expire B, unfence B, notify A, expire B, expand B, crash B, alter A, altered A",
            "A takes its proposal back: its ISR stays A.",
        ),
        (
            "kafka-4.1",
            f"{REFUSED}, notify A, alter A, altered A",
            "A takes its proposal back: its ISR stays A; leader A leaves its HW at 0, though its ISR has all below 1.",
        ),
        # On a real clock A would wait for B, which may have been caught up a moment ago.
        ("kafka-4.1", f"{REFUSED}, alter A, altered A", "A takes its proposal back: its ISR stays A."),
        (
            "kafka-4.1",
            f"{REFUSED}, alter A, altered A, notify A",
            "The metadata log tells A that B is fenced; leader A leaves its HW at 0, though its ISR has all below 1.",
        ),
        (
            "kip-497",
            f"{SHRINKS}, alter A, resend A",
            "The answer to A's AlterPartition request is lost: ISR A applied; A sends the same request again.",
        ),
        (
            "kip-497",
            f"{SHRINKS}, alter A, resend A, alter A",
            "The controller has already applied A's proposal, and confirms it: ISR A.",
        ),
        (
            "kip-497:stale_controller=final",
            f"{SHRINKS}, refuse A",
            "A controller that is no longer active rejects A's proposal of ISR A; A treats this as final.",
        ),
        (
            "kip-497:stale_controller=final",
            f"{SHRINKS}, refuse A, altered A",
            "A's proposal is refused: ISR A stays pending until the next update; "
            "leader A has ISR A pending, and nothing under way will ever answer.",
        ),
        (
            "kip-841",
            f"{SHRINKS}, alter A",
            "The controller applies A's proposal: ISR A, in a new epoch of A, 1, because B leaves the ISR.",
        ),
        (
            "kip-841",
            f"{SHRINKS}, alter A, altered A",
            "A drops the answer, which names an epoch that it does not lead yet: it waits for the update.",
        ),
        (
            "kip-903",
            f"{SHRINKS}, alter A, notify A",
            "The metadata log tells A that the ISR is A, in epoch 0 still; that is what A has proposed; "
            "A's HW rises to 1; m0 is committed and acknowledged.",
        ),
        (
            "kip-497",
            f"{SHRINKS}, expire B, notify A",
            "A learns that it leads on, in epoch 1; A no longer waits for ISR A, which it has proposed, "
            "though its request is still under way; A's HW rises to 1; m0 is committed and acknowledged.",
        ),
        (
            "kip-497",
            f"{SHRINKS}, alter A, expire A, elect A, notify A, altered A",
            "The answer to A comes too late, because it no longer has a pending proposal: ISR A applied.",
        ),
        (
            "kip-497:isr_queue=cleared_by_news",
            f"{SHRINKS}, expire B, notify A, notify B, fetch B, receive B, fetch B, expand B",
            "A proposes to take B into the ISR, to be A,B: it has seen B at offset 1, and its own HW is 1; "
            "but it sends nothing, because it has an earlier AlterPartition request in flight; "
            "leader A has ISR A,B pending, and nothing under way will ever answer.",
        ),
        (
            "kip-497:effective_isr=committed",
            "expire B, notify A, notify B, fetch B, expand B, produce A, alter A",
            "The controller applies A's proposal: ISR A,B; B is in the ISR without m0, which is below A's HW; "
            "B joins the ISR without all records below the HW of A, which proposed it.",
        ),
    ],
)
def test_a_sentence_describes_each_step_of_a_change_of_the_isr(protocol, schedule, sentence):
    assert last_sentence(schedule, protocol) == sentence


def test_the_sentence_of_a_proposal_mentions_an_old_partition_epoch():
    said = last_sentence("fetch B, expire B, unfence B, notify A, expire C, expand B", "kip-903", replicas=3)
    assert said.endswith("is on its way, with a partition epoch that is not the current one.")


DIVERGES = "produce A, elect B, notify A, notify B, produce B"


@pytest.mark.parametrize(
    ("protocol", "schedule", "sentence"),
    [
        (
            "kip-595",
            "produce A, elect B, notify A",
            "A learns that B leads epoch 1 and steps down; "
            "A keeps its log for now, and will fetch from offset 1 with epoch 0.",
        ),
        (
            "kip-595",
            f"{DIVERGES}, fetch A",
            "A fetches from offset 1, its last record of epoch 0; "
            "B responds that their logs diverge: epoch 0 ends at offset 0.",
        ),
        ("kip-595", f"{DIVERGES}, fetch A, receive A", "A truncates m0: epoch 0 ends at offset 0 on B."),
        (
            "kip-595:diverging_fetch=counted",
            f"{DIVERGES}, fetch A",
            "A fetches from offset 1, its last record of epoch 0; "
            "B responds that their logs diverge: epoch 0 ends at offset 0; "
            "B still assumes that A has everything below offset 1; B's HW rises to 1; "
            "m1 is committed and acknowledged; A is in the ISR without m1, which is below B's HW.",
        ),
        (
            "kip-595:late_answer=diverging_any",
            "produce A, elect B, notify A, notify B, fetch A, crash B, elect A, notify A",
            "A becomes leader of epoch 2; the response in flight to A outlives that: diverges, e0 ends at 0; "
            "A's HW rises to 1; m0 is committed.",
        ),
        (
            "kip-595:late_answer=diverging_any",
            "produce A, elect B, notify A, notify B, fetch A, crash B, elect A, notify A, receive A",
            "The response counts, although A has learned an update since its request; "
            "A handles the response as a follower, although it leads epoch 2 by now; "
            "A truncates m0: epoch 0 ends at offset 0 on B, although m0 was committed on A; A's HW falls from 1 to 0; "
            "m0 is lost: it was readable on A at offset 0, and leader A does not have it.",
        ),
        (
            "kafka-2.8.0",
            "produce A, elect B, notify A, notify B, fetch A, elect A, notify A, notify B, receive A, "
            "fetch B, receive B",
            "B, with LEO 0, truncates nothing: A's log ended at offset 0.",
        ),
        (
            "kip-595:late_answer=same_leader",
            "produce A, elect B, notify A, notify B, fetch A, crash B, elect A, notify A, receive A",
            "A ignores a response that it does not wait for: diverges, e0 ends at 0; "
            "B gave it, and A leads itself now.",
        ),
        (
            "kip-595:late_answer=same_leader",
            "produce A, fetch B, expire B, notify B, receive B",
            "B ignores a response that it does not wait for: m0, HW 0; it has restarted since, with an empty log.",
        ),
    ],
)
def test_a_sentence_describes_each_step_of_a_fetch_between_diverging_logs(protocol, schedule, sentence):
    assert last_sentence(schedule, protocol) == sentence


def test_a_sentence_names_the_high_watermark_of_a_diverging_response_before_the_truncation():
    schedule = f"{DIVERGES}, shrink A, alter B, altered B, fetch A, receive A"
    said = last_sentence(schedule, "kip-595:diverging_high_watermark=applied", follower_reads=True)
    assert said.startswith("A first adopts the HW in the response, 1, before it truncates its log; A truncates m0")


@pytest.mark.parametrize(
    ("schedule", "sentence"),
    [
        (
            "expire B",
            "B's session with the controller expires, so that it is fenced: epoch 0 keeps leader A, ISR A; "
            "the ELR is B now.",
        ),
        ("expire B, unfence B", "The controller receives heartbeats from B again and unfences it."),
        (
            "expire B, expire A",
            "A's session with the controller expires, so that it is fenced: epoch 1 has no leader, ISR empty; "
            "the ELR is A,B now; A does not know that and still leads epoch 0, a zombie.",
        ),
        (
            "shutdown B",
            "B stops in a controlled shutdown: epoch 0 keeps leader A, ISR A; its disk has an empty log with HW 0; "
            "the ELR is B now.",
        ),
        ("shutdown B, restart B", "B is up again, but not registered yet; its disk has an empty log with HW 0."),
        (
            "crash B, restart B, expire B, register B",
            "B is not an eligible leader replica: its shutdown was not clean, and may have lost records; "
            "the controller registers B's new process, and fences the broker until it has caught up; "
            "the ELR is empty now.",
        ),
        (
            "expire B, expire A, unfence B, elect B",
            "The controller makes B leader of epoch 2 from the ELR, ISR B: the ISR was empty; the ELR is A now.",
        ),
        (
            f"crash B, restart B, expire B, register B, crash A, {AGAIN.format('A')}, elect A",
            "The controller makes A leader of epoch 2 as the last known leader, ISR A: nobody was in the ISR or the "
            "ELR.",
        ),
        (f"{SHRINKS}, alter A", "The controller applies A's proposal: ISR A; the ELR is B now."),
        (
            "fetch B, expire B, notify A",
            "The metadata log tells A that B is fenced; the metadata log tells A that the ISR is A, in epoch 0 still.",
        ),
        (
            "expire B, notify A, crash B, restart B, register B, notify B, unfence B, notify A",
            "The metadata log tells A that B is no longer fenced; "
            "the metadata log tells A that B has registered again.",
        ),
        (
            "produce A, fetch B, receive B, expire B, notify A",
            "The metadata log tells A that B is fenced; the metadata log tells A that the ISR is A, in epoch 0 still; "
            "A's HW stays at 0: the ISR has 1 of min.insync.replicas 2.",
        ),
    ],
)
def test_a_sentence_describes_fencing_and_eligible_leader_replicas_under_kraft(schedule, sentence):
    assert last_sentence(schedule, "kip-966", min_insync_replicas=2) == sentence


def test_sentences_name_the_failure_that_permits_losses_and_a_permitted_loss():
    schedule = f"{B_LOST_ITS_LOG}, power_loss A, {AGAIN.format('A')}, elect A, notify A"
    *_, failed, _, _, _, _, _, _, lost = scenes(schedule, "kip-966", min_insync_replicas=2, power_loss=True)
    assert failed.sentence.endswith("power has failed twice with unflushed records: losses are permitted from now on.")
    assert "m0 is lost, as the contract permits now: it was readable on A at offset 0" in lost.sentence
    assert not run(schedule, "kip-966", min_insync_replicas=2, power_loss=True).first_broken


def test_the_election_of_the_last_known_leader_permits_losses_after_unclean_shutdowns():
    schedule = f"{B_LOST_ITS_LOG}, crash A, {AGAIN.format('A')}, elect A"
    said = last_sentence(schedule, "kip-966", min_insync_replicas=2, power_loss=True)
    assert said.endswith(
        "the replicas with all records shut down uncleanly, and one has lost records: losses are permitted from now on."
    )
