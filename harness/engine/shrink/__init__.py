"""Shorten a failing schedule to as few events as possible."""
