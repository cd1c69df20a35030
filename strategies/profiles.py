"""Hypothesis profiles: `dev` for work on a test, `ci` for every commit, `nightly` for long runs.

Register the profiles and load a profile, for example in conftest.py:

    from epochfuzz.strategies import profiles

    profiles.register()
    hypothesis.settings.load_profile("ci")
"""

from hypothesis import HealthCheck, Phase, settings

# All phases but two. The explanation traces every line, and names lines of the model rather than of a test. The search
# for larger targets changes the choice before each step whether to continue, and ended 49 of 100 examples early.
PHASES = [phase for phase in Phase if phase not in (Phase.explain, Phase.target)]

# For runs whose results only a program reads: Hypothesis saves and prints nothing. The runs are not derandomized,
# because a derandomized run ignores saved examples, and shrinking starts from a saved example.
UNATTENDED = settings(
    settings.get_profile("default"),
    deadline=None,
    database=None,
    derandomize=False,
    print_blob=False,
    suppress_health_check=list(HealthCheck),
)


def register() -> None:
    """Register the profiles `dev`, `ci` and `nightly` with Hypothesis.

    No profile has a deadline, because the duration of a step does not matter here.
    """
    common = settings(
        settings.get_profile("default"),  # not the profile that is loaded now
        deadline=None,
        phases=PHASES,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.register_profile("dev", common, max_examples=20)
    # Derandomized, so that the same commit fails in every run or in none.
    settings.register_profile("ci", common, max_examples=100, derandomize=True, database=None, print_blob=True)
    settings.register_profile("nightly", common, max_examples=10_000, print_blob=True)
