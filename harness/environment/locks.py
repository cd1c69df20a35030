"""Locks on files and directories. The kernel releases a lock when its process ends, however it ends."""

import fcntl


def take_lock(descriptor: int, *, shared: bool = False, wait: bool = False) -> bool:
    """Lock an open file or directory, and return whether this process has the lock.

    Without `wait`, a lock of another process makes the result False. On a file system without locks it is True.
    """
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(descriptor, kind if wait else kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
