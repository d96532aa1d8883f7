"""What is installed from a wheel is what stands in the tree, the demo included."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tree import NAME, ROOT, packages_listed, product_modules

pytestmark = pytest.mark.cluster

ROOT_FILES = {"py.typed"}
LEFT_OUT = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__", "dream-runs")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    tree = folder / "anything"  # the name of the checkout must not matter
    shutil.copytree(ROOT, tree, ignore=LEFT_OUT, symlinks=True)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", folder, "."]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return zipfile.ZipFile(next(folder.glob("dream_eval-*.whl")))


def carried(wheel: zipfile.ZipFile) -> set[str]:
    return {name.removeprefix(f"{NAME}/") for name in wheel.namelist() if name.startswith(f"{NAME}/")}


def files_in_tree() -> set[str]:
    """Product modules, whatever else lies in a package's folder, and the demo."""
    packages = [ROOT.joinpath(*name.split(".")[1:]) for name in packages_listed() if name != NAME]
    data = {str(path.relative_to(ROOT)) for folder in packages for path in folder.iterdir() if path.is_file()}
    demo = {str(path.relative_to(ROOT)) for path in (ROOT / "examples" / "demo").rglob("*") if path.is_file()}
    found = {str(path) for path in product_modules()} | data | demo | ROOT_FILES
    return {name for name in found if "__pycache__" not in name and not Path(name).name.startswith(".")}


def test_wheel_equals_tree(wheel: zipfile.ZipFile) -> None:
    assert carried(wheel) == files_in_tree()


def test_every_package_of_the_tree_is_listed() -> None:
    folders = {path.parent for path in product_modules()}
    assert {".".join((NAME, *folder.parts)) for folder in folders} == set(packages_listed())


def test_wheel_runs_from_elsewhere(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path)
    code = (
        "import dream_eval, dream_eval.core as core\n"
        "from dream_eval.runs.faults import demo_folder, load_faults\n"
        "assert load_faults() and (demo_folder() / 'corpus').is_dir()\n"
        "print(dream_eval.__file__, core.__file__, demo_folder())"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={"PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert all(place.startswith(str(tmp_path)) for place in done.stdout.split())


def test_the_command_runs_from_a_wheel(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path)
    code = "import sys; from dream_eval.cli import main; sys.argv = ['dream', 'demo', '--help']; main()"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={"PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "dream demo" in done.stdout


def test_metadata(wheel: zipfile.ZipFile) -> None:
    name = next(name for name in wheel.namelist() if name.endswith("/METADATA"))
    text = wheel.read(name).decode()
    assert "Name: dream-eval\n" in text
    assert "License-Expression: Apache-2.0\n" in text
    assert any(name.endswith("licenses/LICENSE") for name in wheel.namelist())
