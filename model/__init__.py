"""The rules of the replication protocol and the guarantees to its clients, for interpreted and compiled runs.

Every rule is a plain function over a partition `p`. If you call a rule directly, Python interprets it on a
`state.Partition`. The module core/specializer.py copies the rules of a protocol into one namespace, and evaluates the
expressions that are constant under the protocol. Random runs and searches compile the copied rules with Numba. In
compiled code `p` is one NumPy record. A rule does no input or output, reads no clock and draws no random number.
"""
