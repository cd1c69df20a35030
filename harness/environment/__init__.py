"""The environment of a run: epochfuzz's version and rules, installed extras, and the machine's memory."""
