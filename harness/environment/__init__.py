"""The environment of a run: epochfuzz's version, installed extras, file locks, random seeds, and peak memory."""
