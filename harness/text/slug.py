"""The allowed form of a case's id, which occurs in file names and web addresses."""

import re

SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
