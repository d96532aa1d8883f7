"""Running asynchronous work from the command line, with a first and a second Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ..errors import Interrupted
from ..runs.control import Control

T = TypeVar("T")
GRACE_S = 3.0
"""After the second Ctrl-C: how long cleaning up may take."""


def run_stoppable(work: Callable[[Control], Awaitable[T]], *, said: Callable[[str], None]) -> T:
    """Run ``work``. The first Ctrl-C stops it cleanly through the control; the second raises KeyboardInterrupt."""
    return asyncio.run(_watched(work, said))


async def _watched(work: Callable[[Control], Awaitable[T]], said: Callable[[str], None]) -> T:
    control, loop = Control(), asyncio.get_running_loop()
    job = asyncio.ensure_future(work(control))

    def interrupt() -> None:
        if control.cause is None:
            said("stopping: what is in flight is finished and kept; Ctrl-C once more stops at once")
            control.stop(Interrupted("interrupted"))
        else:
            for task in asyncio.all_tasks(loop):
                task.cancel()
            loop.call_later(GRACE_S, os._exit, 130)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    try:
        return await job
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
