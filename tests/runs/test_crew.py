"""The first error ends the crew and is raised as it is; asyncio has nothing to say about the others."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest
from dream_eval.runs.crew import Crew


@pytest.fixture
async def said() -> list[dict[str, Any]]:
    """What the loop would print of errors that nobody looked at."""
    heard: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: heard.append(context))
    return heard


async def test_all_and_what_they_start_is_waited_for() -> None:
    crew, done = Crew(), []

    async def child(number: int) -> None:
        await asyncio.sleep(0)
        done.append(number)

    async def parent() -> None:
        for number in range(3):
            crew.spawn(child(number))

    await crew.run([parent()])
    assert done == [0, 1, 2]


@pytest.mark.parametrize("number", [2, 5])
async def test_errors_at_the_same_moment_are_raised_once(said: list[dict[str, Any]], number: int) -> None:
    crew, gate = Crew(), asyncio.Event()

    async def fails(name: int) -> None:
        await gate.wait()
        raise OSError(f"disk full for {name}")

    async def opens() -> None:
        gate.set()

    with pytest.raises(OSError, match="disk full for 0"):
        await crew.run([*(fails(name) for name in range(number)), opens()])
    del crew
    gc.collect()
    await asyncio.sleep(0)
    assert not said


async def test_the_error_of_one_ends_those_that_wait(said: list[dict[str, Any]]) -> None:
    tidied: list[str] = []

    async def waits() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            tidied.append("waits")

    async def fails() -> None:
        await asyncio.sleep(0)
        raise ValueError("a bug")

    with pytest.raises(ValueError, match="a bug"):
        await Crew().run([waits(), fails()])
    gc.collect()
    assert tidied == ["waits"]
    assert not said
