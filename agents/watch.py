"""A job's deadline and its off switch, checked wherever an agent's thread touches the host."""

from __future__ import annotations

import time

from ..errors import DeadlineReached, HostStop, Interrupted


class Watch:
    """Says whether a job may go on. Set from the event loop, read in the agent's thread.

    ``seconds``: how long the job may take from now on; None: as long as it likes. The sandbox's own limits do not
    count the time that host calls take, so this is the only clock that holds for a whole job.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds
        self._seconds = seconds
        self._cancelled = False

    def cancel(self) -> None:
        """End the job at its next touch of the host: nobody waits for its result any more."""
        self._cancelled = True

    def check(self) -> None:
        """Return while the job may go on. Raises DeadlineReached or Interrupted."""
        stop = self.stop()
        if stop is not None:
            raise stop

    def stop(self) -> HostStop | None:
        """The reason to end now, or None."""
        if self._cancelled:
            return Interrupted("the job was given up")
        if self._end is not None and time.monotonic() > self._end:
            return DeadlineReached(f"the agent's job took longer than {self._seconds:g} s")
        return None
