"""The way from an agent's thread back to the event loop that owns models and tools."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Coroutine
from typing import Any, TypeVar

from ..errors import HostStop, Stop
from .escape import ENDING, Escape
from .watch import Watch

T = TypeVar("T")
_TICK_S = 0.5
"""How often a waiting thread looks whether its job may still go on, seconds."""


class Host:
    """Runs coroutines on the loop for one agent's thread, and gives up waiting when the job must end."""

    def __init__(self, loop: asyncio.AbstractEventLoop, watch: Watch) -> None:
        self._loop, self.watch = loop, watch

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of ``work``. Raises what it raises, and HostStop when the job must end."""
        stop = self.watch.stop()
        if stop is not None:
            work.close()
            raise stop
        # The coroutine's task inherits the thread's context, so ledger labels hold for agents too.
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        while True:
            try:
                return future.result(_TICK_S)
            except concurrent.futures.TimeoutError:
                if future.done():
                    raise
                self._end_if_told(future)
            except concurrent.futures.CancelledError:
                self.watch.cancel()
                self.watch.check()

    def insist(self, work: Coroutine[Any, Any, T]) -> T:
        """As :meth:`wait`, with what ends a run in the shape that smolagents' loop lets pass."""
        try:
            return self.wait(work)
        except HostStop as stop:
            raise Stop(stop) from stop
        except ENDING as error:
            raise Escape(error) from error

    def _end_if_told(self, future: concurrent.futures.Future[T]) -> None:
        stop = self.watch.stop()
        if stop is not None:
            future.cancel()
            raise stop
