"""The replication protocol and the promises made to its clients, written once.

Every rule is a plain function over a partition `p`. Called as it stands it runs interpreted, on a `state.Partition`.
program.py links the rules of a protocol into flat code, with what is constant worked out; walks and searches compile
that with Numba, where `p` is one NumPy record. The package does no input or output, reads no clock and draws no random
number.
"""
