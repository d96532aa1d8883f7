"""A run, two runs or a protocol as one self-contained HTML page.

The page's own sources stand in ``web/``; ``page.js`` and ``page.css`` are built from them (docs/viewer.md).
"""

from .api import default_out, open_bundle, write, write_view
from .bundle import Bundle
from .page import Written
from .serve import ViewServer

__all__ = ["Bundle", "ViewServer", "Written", "default_out", "open_bundle", "write", "write_view"]
