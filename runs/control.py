"""How a run is told to stop."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import HostStop


class Control:
    """Stops a run cleanly: nothing new starts, calls in flight end, everything is kept."""

    def __init__(self) -> None:
        self.cause: HostStop | None = None
        self._told: list[Callable[[HostStop], None]] = []

    def stop(self, cause: HostStop) -> None:
        """Stop for this reason; only the first one counts. Call it in the loop's thread."""
        if self.cause is None:
            self.cause = cause
            for tell in self._told:
                tell(cause)

    def on_stop(self, tell: Callable[[HostStop], None]) -> None:
        """Have ``tell`` called at the stop, or at once when it has come already."""
        self._told.append(tell)
        if self.cause is not None:
            tell(self.cause)
