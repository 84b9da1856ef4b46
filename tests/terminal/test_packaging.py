"""The wheel built from the sdist is complete; other tests use an editable install."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from pty_terminal import pty_terminal

ROOT = Path(__file__).resolve().parents[2]
_IMPORTED = re.compile(r"^ *(?:from|import) (\w+)", re.MULTILINE)

pytestmark = pytest.mark.timeout(300)


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
    """An sdist of the tree, and the wheel built from it."""
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


def test_sdist_and_wheel_contain_style_sheets_and_data(dist: Path) -> None:
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
    dist: Path, private_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wheel that pip builds from the sdist is the same."""
    folder = tmp_path / "installed"
    pip = (sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-compile")
    run(*pip, "--target", folder, next(dist.glob("*.whl")), cwd=tmp_path)
    monkeypatch.chdir(tmp_path)
    environment = {"PYTHONPATH": str(folder)}
    print_path = [sys.executable, "-c", "import gwtui; print(gwtui.__file__)"]
    assert str(folder) in subprocess.check_output(print_path, env=environment, text=True)
    command = [str(folder / "bin" / "gwtui"), "--demo", "keys"]
    with pty_terminal(command, environment=environment, fresh_process=True) as terminal:
        terminal.wait_for("airflow-staging", 60)
        terminal.quit()


def test_imported_packages_are_dependencies() -> None:
    distributions = packages_distributions()
    files = (ROOT / "gwtui").rglob("*.py")
    imported = {name for file in files for name in _IMPORTED.findall(file.read_text("utf-8"))}
    third_party = {
        name for name in imported - sys.stdlib_module_names - {"gwtui"} if name in distributions
    }
    # The dependencies of pydantic come with it.
    texts = [text for name in ("gwtui", "pydantic") for text in requires(name) or ()]
    declared = {Requirement(text).name for text in texts if "extra" not in text}
    assert third_party
    assert {distributions[name][0].lower().replace("_", "-") for name in third_party} <= declared
