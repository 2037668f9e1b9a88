"""Settings of the processes that the examples start."""

import os

# Two threads that wait for each other can be far slower than one where other programs run too.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "0"}


def use_one_thread_each() -> None:
    """Give each process that is started from now on one thread, unless the user says otherwise."""
    for name, value in _ONE_THREAD.items():
        os.environ.setdefault(name, value)
