"""The benchmark: throughput beside what else people use, and how soon which strategy finds what."""
