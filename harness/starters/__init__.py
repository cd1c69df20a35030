"""Starters: adapters for a user's own code in several languages, and instructions for coding agents.

* starter.py: the files of a starter, from templates/.
* SKILL.md: the instructions that `epochfuzz skill` prints.
"""
