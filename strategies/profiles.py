"""Hypothesis profiles: `dev` while writing, `ci` for every commit, `nightly` for as long as there is time.

from epochfuzz.strategies import profiles

profiles.register()
hypothesis.settings.load_profile("ci")
"""

from hypothesis import HealthCheck, Phase, settings

# All but the explanation: it traces every line that runs, and names those of the model rather than of a test.
PHASES = [phase for phase in Phase if phase is not Phase.explain]

# For runs of which code, not a person, looks at the outcome: nothing is remembered, and nothing is said. Derandomized,
# a run would ignore what is saved for it to begin with.
UNATTENDED = settings(
    settings.get_profile("default"),
    deadline=None,
    database=None,
    derandomize=False,
    print_blob=False,
    suppress_health_check=list(HealthCheck),
)


def register() -> None:
    """Make the profiles known to Hypothesis by name. None has a deadline: how long a step takes says nothing here."""
    common = settings(
        settings.get_profile("default"),  # and not whatever profile is loaded just now
        deadline=None,
        phases=PHASES,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.register_profile("dev", common, max_examples=20)
    # The same examples every time, so that a failure is the commit's and not the day's.
    settings.register_profile("ci", common, max_examples=100, derandomize=True, database=None, print_blob=True)
    settings.register_profile("nightly", common, max_examples=10_000, print_blob=True)
