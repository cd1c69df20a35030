"""Benchmark epochfuzz: its speed compared with other tools, and the schedules that it needs to detect a mutant."""
