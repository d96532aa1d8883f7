"""Work that runs together in one event loop: the first error ends all of it and is raised as it is."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable


class Crew:
    """Starts coroutines, also while others run, and waits for all."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def spawn(self, work: Coroutine[None, None, None]) -> None:
        """Start it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def run(self, work: Iterable[Coroutine[None, None, None]]) -> None:
        """Start these and wait until they, and what they started, are done."""
        for one in work:
            self.spawn(one)
        try:
            if self._tasks:
                await self._over
        finally:
            left = list(self._tasks)
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()  # of later ones too: asyncio prints what nobody read
        if self._over.done() or task.cancelled():
            return
        if error is not None:
            self._over.set_exception(error)
        elif not self._tasks:
            self._over.set_result(None)
