"""The package's public names, and what its import costs."""

import subprocess
import sys

from dream_eval import tools


def test_every_public_name_loads():
    assert set(tools._HOME) == set(tools.__all__)
    assert all(getattr(tools, name) is not None for name in tools.__all__)


def test_importing_it_loads_no_heavy_package():
    heavy = "httpx httpcore trafilatura lxml pypdf ddgs arxiv github requests tldextract"
    code = f"import dream_eval.tools.toolbox, sys; print([m for m in {heavy.split()} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
