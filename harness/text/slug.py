"""The form of a case's id, which is also the name of its file and a word of an address."""

import re

SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
