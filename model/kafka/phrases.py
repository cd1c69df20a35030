"""The weights of single events and of short sequences of events in random schedules."""

from epochfuzz.model.kafka.vocabulary.events import Verb

# The number of copies of each phrase in the deck, for each replica. Faults matter only if replication makes progress,
# and an election rarely causes a failure if no replica learns its result. The weights come from random ascents, which
# minimized the number of schedules needed to detect the mutants of harness/lab/mutants. Half of the mutants were held
# back to check the weights, and changes without an effect were undone. See docs/benchmark/method.md.
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
    (Verb.RESTART, Verb.EXPIRE, Verb.REGISTER, Verb.NOTIFY): 3,
    (Verb.EXPIRE, Verb.REGISTER, Verb.NOTIFY, Verb.UNFENCE): 5,
}
