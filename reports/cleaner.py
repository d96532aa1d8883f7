"""stub"""

from __future__ import annotations
from .data import Cut


def clean_text(text: str) -> tuple[str, tuple[Cut, ...]]:
    """stub"""
    return text, ()
