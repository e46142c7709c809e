"""Turn: whose launches a device runs now, where several processes share it. While one has the turn,
nobody else launches anything but a library's first call, which cannot be told from its compiling.
Fair: who asks first gets it first. One thread."""

import fcntl


class NoTurn:
    """For a process that has the device to itself."""

    shared = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


class Turn:
    """A file lock; the system gives back what a process that dies held."""

    shared = True

    def __init__(self, path):
        self.turn = open(path, "a", encoding="utf-8")  # closed with the process
        # Held while waiting for the turn: who gave it cannot take it again before those who wait.
        self.queue = open(f"{path}.queue", "a", encoding="utf-8")
        self.depth = 0

    def __enter__(self):
        if self.depth == 0:
            fcntl.flock(self.queue, fcntl.LOCK_EX)
            fcntl.flock(self.turn, fcntl.LOCK_EX)
            fcntl.flock(self.queue, fcntl.LOCK_UN)
        self.depth += 1
        return self

    def __exit__(self, *_):
        self.depth -= 1
        if self.depth == 0:
            fcntl.flock(self.turn, fcntl.LOCK_UN)
        return False
