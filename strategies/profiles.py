"""Hypothesis profiles: `dev` while writing, `ci` for every commit, `nightly` for as long as there is time.

from epochfuzz.strategies import profiles

profiles.register()
hypothesis.settings.load_profile("ci")
"""

from hypothesis import HealthCheck, Phase, settings

# All phases but two. The explanation traces every line, and names lines of the model rather than of a test. The search
# for larger targets changes the choice before each step whether to continue, and ended 49 of 100 examples early.
PHASES = [phase for phase in Phase if phase not in (Phase.explain, Phase.target)]

# For runs whose outcome code reads, not a person: Hypothesis saves and prints nothing. A derandomized run would ignore
# the examples that are saved for its start.
UNATTENDED = settings(
    settings.get_profile("default"),
    deadline=None,
    database=None,
    derandomize=False,
    print_blob=False,
    suppress_health_check=list(HealthCheck),
)


def register() -> None:
    """Register the profiles with Hypothesis, by name.

    No profile has a deadline, because the duration of a step says nothing here.
    """
    common = settings(
        settings.get_profile("default"),  # and not the profile that is loaded now
        deadline=None,
        phases=PHASES,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.register_profile("dev", common, max_examples=20)
    # Derandomized, so that a failure belongs to the commit and not to the day.
    settings.register_profile("ci", common, max_examples=100, derandomize=True, database=None, print_blob=True)
    settings.register_profile("nightly", common, max_examples=10_000, print_blob=True)
