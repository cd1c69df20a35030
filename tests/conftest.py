"""The tests draw what the profile `ci` draws; `--hypothesis-profile` names another."""

from hypothesis import settings

from strategies import profiles

profiles.register()
settings.load_profile("ci")
