"""Run fuzz, explore, shrink and replay on a user's own model, which `--model module:NAME` imports."""
