"""Lock files and directories. The kernel releases a lock when its process ends, even if the process is killed."""

import fcntl


def take_lock(descriptor: int, *, shared: bool = False, wait: bool = False) -> bool:
    """Lock an open file or directory, and return whether this process has the lock.

    If another process has the lock, the function returns False, or with `wait` blocks until the lock is free. The
    function returns True on a file system without locks.
    """
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(descriptor, kind if wait else kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
