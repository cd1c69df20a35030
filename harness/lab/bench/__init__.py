"""Benchmark epochfuzz: throughput compared with other tools, and the effort of each strategy to detect a mutant."""
