"""Replay a schedule step by step, and describe it in scenes and sentences that all drawings share."""
