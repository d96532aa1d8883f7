"""Carrying a replay miss out of smolagents' loop, which catches every Exception."""

from __future__ import annotations

from ..errors import ReplayMiss


class Missed(BaseException):
    """Carries a ReplayMiss as ``errors.Stop`` carries a HostStop. Raised and unwrapped by this package only."""

    def __init__(self, cause: ReplayMiss) -> None:
        super().__init__(str(cause))
        self.cause = cause
