"""Commands for a user's own model, which `--model module:NAME` imports: fuzz, explore, shrink and replay."""
