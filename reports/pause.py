"""Reading a long report makes many small objects and no cycles: the cyclic collector would only look at them again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_LOCK = Lock()
_WORKING = 0
_RESUME = False


@contextmanager
def collector_paused() -> Iterator[None]:
    """Hold off the cyclic garbage collector; the last of several threads to leave puts it back as it was.

    What was made in between counts as old from then on: looked at by the next full collection, and not at once.
    """
    global _WORKING, _RESUME
    with _LOCK:
        if _WORKING == 0:
            _RESUME = gc.isenabled()
            gc.disable()
        _WORKING += 1
    try:
        yield
    finally:
        with _LOCK:
            _WORKING -= 1
            if _WORKING == 0 and _RESUME:
                if not gc.get_freeze_count():  # somebody else's frozen objects stay frozen
                    gc.freeze()
                    gc.unfreeze()
                gc.enable()
