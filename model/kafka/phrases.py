"""Phrases: what random schedules are dealt from, single events and runs of them, and how often each is in the deck."""

from epochfuzz.model.kafka.vocabulary.events import Verb

# How often each phrase is in the deck, for each replica. Replication has to make progress for faults to matter, and an
# election that nobody hears of is seldom the start of anything. These weights are where random ascents ended that
# sought the fewest schedules to find the broken protocols of harness/defects, half of which were held back to judge
# them by; what such an ascent changed to no avail was taken back. See docs/benchmark/method.md.
PHRASES: dict[tuple[int, ...], int] = {
    **{(verb,): verb.dealt for verb in Verb},
    (Verb.FETCH, Verb.RECEIVE): 3,
    (Verb.FETCH, Verb.RECEIVE, Verb.FETCH, Verb.RECEIVE): 6,
    (Verb.FETCH, Verb.EXPAND): 8,
    (Verb.FETCH, Verb.RECEIVE, Verb.FETCH, Verb.EXPAND): 1,
    (Verb.ELECT, Verb.NOTIFY): 2,
    (Verb.ELECT, Verb.NOTIFY, Verb.PRODUCE): 3,
    (Verb.ELECT, Verb.NOTIFY, Verb.FETCH, Verb.RECEIVE): 1,
    (Verb.ELECT, Verb.CATCH_UP): 3,
    (Verb.NOTIFY, Verb.FETCH, Verb.RECEIVE): 1,
    (Verb.RESTART, Verb.NOTIFY): 4,
    (Verb.RESTART, Verb.NOTIFY, Verb.FETCH, Verb.RECEIVE): 3,
    (Verb.SHRINK, Verb.ALTER, Verb.ALTERED): 4,
}
