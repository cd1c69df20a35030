"""The allowed form of a case's id. File names and web addresses contain the id."""

import re

SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
