"""Driving the systems under test: commands, hosted models, the built-in agent; their reports, and what they took."""

from __future__ import annotations

from .collect import Collected, Stopper, collect
from .data import EXPLAINED, Asked, Attempt, Delivery, NoReport, Profile, State
from .files import ReportsFile, read_profiles
from .systems import CommandSystem, Given, System, read_command

__all__ = [
    "EXPLAINED",
    "Asked",
    "Attempt",
    "Collected",
    "CommandSystem",
    "Delivery",
    "Given",
    "NoReport",
    "Profile",
    "ReportsFile",
    "State",
    "Stopper",
    "System",
    "collect",
    "read_command",
    "read_profiles",
]
