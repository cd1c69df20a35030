"""The replication protocol and the guarantees to its clients, written once.

Every rule is a plain function over a partition `p`. If you call a rule directly, Python interprets it on a
`state.Partition`. The module core/specializer.py links the rules of a protocol into flat code and folds their
constants. Random runs and searches compile that code with Numba. In compiled code `p` is one NumPy record. The package
does no input or output, reads no clock and draws no random number.
"""
