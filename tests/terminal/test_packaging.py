"""The same program from checkout and from the wheel of the sdist, each with its style sheets.

The editable install is what these tests themselves run from.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from pty_terminal import pty_terminal

ROOT = Path(__file__).resolve().parents[2]
FIRST_ROW = "airflow-staging"

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packaging"), pytest.mark.timeout(300)]


def run(*command: str | Path, cwd: Path) -> str:
    result = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An sdist of the tree, and the wheel that is built from that sdist."""
    folder = tmp_path_factory.mktemp("dist")
    copy = folder / "tree"
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    for name in filter(None, names):
        source = ROOT / name
        if source.is_file():
            target = copy / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, copy, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with nothing in it. This one's pip installs into it."""
    folder = tmp_path_factory.mktemp("bare") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=ROOT)
    return folder / "bin" / "python"


def install(python: Path, package: Path, folder: Path) -> None:
    """Install the package alone, and link what it says it needs from this environment.

    That pip finds what it needs is proven by whoever runs these tests: they were installed so.
    """
    pip = (sys.executable, "-m", "pip", "--python", python)
    run(*pip, "install", "-q", "--no-compile", "--no-deps", "--no-index", package, cwd=folder)
    (site,) = (python.parent.parent / "lib").glob("python*/site-packages")
    (installed,) = distributions(path=[str(site)])
    for distribution in needed(installed):
        for top in {file.parts[0] for file in distribution.files or ()} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(distribution.locate_file(top))))


def needed(of: Distribution) -> Iterator[Distribution]:
    """The distributions of this environment that one requires, and those that they require."""
    seen: set[tuple[str, str]] = set()
    left = [(of, "")]
    while left:
        distribution, extra = left.pop()
        for requirement in map(Requirement, distribution.requires or ()):
            if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
                continue
            found = Distribution.from_name(requirement.name)
            assert requirement.specifier.contains(found.version), requirement
            for wanted in ("", *requirement.extras):
                if (requirement.name, wanted) not in seen:
                    seen.add((requirement.name, wanted))
                    left.append((found, wanted))
                    yield found


def shows_a_row(command: list[str], environment: dict[str, str], folder: Path) -> None:
    before = Path.cwd()
    os.chdir(folder)
    try:
        with pty_terminal(command, environment=environment, anew=True) as terminal:
            terminal.wait_for(FIRST_ROW, 60)
            terminal.send("q")
            assert terminal.wait_exit() == 0
    finally:
        os.chdir(before)


def test_sdist_and_wheel_hold_the_style_sheets(dist: Path) -> None:
    sheets = {sheet.relative_to(ROOT / "styles") for sheet in (ROOT / "styles").rglob("*.tcss")}
    assert sheets
    wheel = next(dist.glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
    assert {f"gwtui/styles/{sheet}" for sheet in sheets} <= inside
    world = {str(file.relative_to(ROOT)) for file in (ROOT / "gwtui/embedded/world").iterdir()}
    assert world
    assert world <= inside
    assert not [name for name in inside if name.startswith(("tests/", "styles/"))]
    sdist = next(dist.glob("*.tar.gz"))
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"styles/{sheet}" for sheet in sheets} <= packed
    documents = {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "docs/README.md"}
    assert {"pyproject.toml", "constraints.txt", *documents} <= packed


def test_an_installed_package_opens_the_demo(
    dist: Path,
    bare: Path,
    private_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What pip makes of the sdist itself is this wheel."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    install(bare, next(dist.glob("*.whl")), tmp_path)
    where = run(bare, "-c", "import gwtui; print(gwtui.__file__)", cwd=tmp_path)
    assert str(bare.parent.parent) in where
    shows_a_row([str(bare.parent / "gwtui"), "--demo", "keys"], {}, tmp_path)


def test_a_plain_checkout_opens_the_demo(private_home: Path, tmp_path: Path) -> None:
    shows_a_row(
        [sys.executable, "-m", "gwtui", "--demo", "keys"], {"PYTHONPATH": str(ROOT)}, tmp_path
    )
