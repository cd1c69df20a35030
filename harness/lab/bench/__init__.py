"""Benchmark epochfuzz: its speed compared with other tools, and the number of schedules until it detects a mutant."""
