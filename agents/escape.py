"""Carrying what must not be swallowed out of smolagents' loop, which catches every Exception."""

from __future__ import annotations

from ..errors import ReplayMiss, UserError

ENDING = (ReplayMiss, UserError)
"""Errors of the host, beside HostStop, that no agent can do anything about."""


class Escape(BaseException):
    """Carries one of ``ENDING`` as ``errors.Stop`` carries a HostStop. Raised and unwrapped by this package only."""

    def __init__(self, cause: ReplayMiss | UserError) -> None:
        super().__init__(str(cause))
        self.cause = cause
