"""The built files belong to the sources beside them; the lock file names no place."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path


def test_the_built_page_is_of_these_sources(repository: Path) -> None:
    web = repository / "viewer" / "web"
    digest = hashlib.sha256()
    names = sorted(f"src/{path.name}" for path in (web / "src").iterdir())
    for name in ("build.mjs", "package-lock.json", "tsconfig.json", *names):
        digest.update(f"{name}\0".encode() + (web / name).read_bytes() + b"\0")
    built = (repository / "viewer" / "page.js").read_text()
    assert built.startswith(f"/* sources {digest.hexdigest()};"), "viewer/web was changed: run `make viewer`"


def test_the_lock_file_names_no_place(repository: Path) -> None:
    text = (repository / "viewer" / "web" / "package-lock.json").read_text()
    assert '"resolved"' not in text
    assert "registry" not in text
    packages = json.loads(text)["packages"]
    assert all("integrity" in package for name, package in packages.items() if name)
    assert "omit-lockfile-registry-resolved=true" in (repository / "viewer" / "web" / ".npmrc").read_text()


def test_licences_of_all_that_is_in_it(repository: Path) -> None:
    text = (repository / "viewer" / "page-licences.txt").read_text()
    for name in ("preact", "d3-scale", "d3-array"):
        assert re.search(rf"^{name} \d", text, re.MULTILINE)


def test_nothing_in_the_page_leads_outside_by_itself(repository: Path) -> None:
    for name in ("page.js", "page.css"):
        text = (repository / "viewer" / name).read_text()
        addresses = re.findall(r"https?://[^\s\"'`)]+", text)
        assert not [url for url in addresses if not url.startswith("http://www.w3.org/")]
        assert "@import" not in text
        assert "url(" not in text
    for path in (repository / "viewer" / "web" / "src").iterdir():
        assert not re.search(r"innerHTML|InnerHTML|\beval\(|new Function|document\.write", path.read_text()), path
