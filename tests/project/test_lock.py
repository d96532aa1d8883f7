"""The lock file installs anywhere: versions and hashes, nothing of the place where it was made."""

from __future__ import annotations

import re
import tomllib

from tree import ROOT

LOCK = (ROOT / "requirements.lock").read_text()
PINS = dict(re.findall(r"^([a-z0-9][a-z0-9._-]*)==(\S+)", LOCK, flags=re.MULTILINE))


def canonical(requirement: str) -> str:
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def test_no_host_and_no_path() -> None:
    assert not re.search(r"://|--index|--find|^-|\s/", LOCK, flags=re.MULTILINE)


def test_every_pin_has_hashes() -> None:
    for block in re.split(r"^(?=[a-z0-9])", LOCK, flags=re.MULTILINE)[1:]:
        assert "--hash=sha256:" in block, block.splitlines()[0]


def test_every_dependency_is_locked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [
        *project["dependencies"],
        *(item for extra in project["optional-dependencies"].values() for item in extra),
    ]
    assert {canonical(item) for item in wanted} <= set(PINS)
