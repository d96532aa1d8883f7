"""The keys that the tools can use: their names, whether they are set, and their values for the ledger to mask."""

from __future__ import annotations

import os

from ..errors import UserError

KEY_VARIABLES = ("SERPER_API_KEY", "TAVILY_API_KEY", "BRAVE_API_KEY", "GITHUB_TOKEN")


def known_keys() -> dict[str, bool]:
    """Each key variable of the tools, and whether it is set."""
    return {name: bool(os.environ.get(name, "").strip()) for name in KEY_VARIABLES}


def secret_values() -> tuple[str, ...]:
    """Values of the key variables that are set. Never to be printed or stored: the ledger masks them."""
    return tuple(value for name in KEY_VARIABLES if (value := os.environ.get(name, "").strip()))


def key_of(variable: str, backend: str) -> str:
    """The value of a key variable. UserError when it is not set."""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UserError(f"--search {backend} needs {variable} in the environment")
    return key
