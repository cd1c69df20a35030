"""Run a Hypothesis state machine with a seed that depends only on the campaign's seed and the run's number.

A run keeps no state for the next run, so its result is the same on every worker.
"""

from hypothesis import Phase, seed
from hypothesis import settings as hypothesis_settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, run_state_machine_as_test

from epochfuzz.strategies.profiles import UNATTENDED

EXAMPLES = 20
_SETTINGS = hypothesis_settings(UNATTENDED, max_examples=EXAMPLES, phases=[Phase.generate, Phase.shrink])


def run_machine(machine: type[RuleBasedStateMachine], seed_: int, number: int) -> tuple[int, list[Exception]]:
    """Run a state machine on up to EXAMPLES examples of Hypothesis, and shrink the failures.

    Returns the number of steps, and the exceptions of the shrunk failures, sorted by class and message.
    """
    steps = 0

    class Counted(machine):  # type: ignore[misc, valid-type]
        @invariant()
        def counted_by_epochfuzz(self) -> None:
            nonlocal steps
            steps += 1

    errors: list[Exception] = []
    try:
        run_state_machine_as_test(seed(seed_ << 64 | number)(Counted), settings=_SETTINGS)
    except ExceptionGroup as several:
        errors = list(several.exceptions)
    except Exception as error:
        errors = [error]
    return steps, sorted(errors, key=lambda error: (type(error).__name__, str(error)))
