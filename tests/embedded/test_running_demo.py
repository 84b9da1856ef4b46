"""A demo that runs is found by other commands of its user, and by nobody's trick."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from gwtui.cli import exits
from gwtui.embedded.demo import demo_gateway, running_demo
from login_kit import Commands


def said(data: Path) -> Path:
    return data / "demo.running"


async def test_a_running_demo_is_found_until_it_ends(tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert running_demo(data) is None
    async with demo_gateway(data_dir=data) as site:
        assert await asyncio.to_thread(running_demo, data) == site
        token = site.token.get_secret_value()
        assert said(data).stat().st_mode & 0o777 == 0o600
        files = (path for path in data.rglob("*") if path.is_file())
        assert not any(token.encode() in path.read_bytes() for path in files)
    assert not said(data).exists()
    assert not site.socket_path.parent.exists()
    assert running_demo(data) is None


def _by_others(data: Path, _site: Path) -> None:
    said(data).chmod(0o644)


def _link(data: Path, _site: Path) -> None:
    said(data).rename(data / "elsewhere")
    said(data).symlink_to(data / "elsewhere")


def _nobody(data: Path, site: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(site.with_name("left")))
    _change(data, socket=str(site.with_name("left")))


def _relative(data: Path, _site: Path) -> None:
    _change(data, socket="gateway.sock")


def _entered_by_all(_data: Path, site: Path) -> None:
    site.parent.chmod(0o755)


def _no_object(data: Path, _site: Path) -> None:
    said(data).write_text("[]")


def _torn(data: Path, _site: Path) -> None:
    said(data).write_text('{"socket": 1')


def _change(data: Path, **values: object) -> None:
    said(data).write_text(json.dumps({**json.loads(said(data).read_text()), **values}))


@pytest.fixture(scope="module")
def founded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of a demo that ran once."""
    data = tmp_path_factory.mktemp("founded") / "data"

    async def run() -> None:
        async with demo_gateway(data_dir=data):
            pass

    asyncio.run(run())
    return data


@pytest.mark.parametrize(
    "trick",
    [
        *(_by_others, _link, _nobody, _relative, _entered_by_all),
        *(_no_object, _torn),
    ],
)
async def test_what_is_not_surely_our_own_is_not_believed(
    trick: Callable[[Path, Path], None], founded: Path, tmp_path: Path
) -> None:
    data = shutil.copytree(founded, tmp_path / "data")
    async with demo_gateway(data_dir=data) as site:
        trick(data, site.socket_path)
        assert await asyncio.to_thread(running_demo, data) is None


async def test_commands_of_the_demo_talk_to_the_one_that_runs(
    private_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Commands(monkeypatch, capsys)
    data = private_home / "data" / "gwtui" / "demo"
    data.parent.mkdir(mode=0o700)
    async with demo_gateway(data_dir=data):

        async def gwtui(*words: str) -> tuple[int, str, str]:
            return await asyncio.to_thread(run, *words)

        code, _, err = await gwtui("keys", "create", "--set", "name=joined", "--demo", "--yes")
        assert code == exits.OK, err
        code, out, err = await gwtui("keys", "list", "--demo", "--output", "json")
        assert code == exits.OK, err
        assert "joined" in [key["name"] for key in json.loads(out)]
        code, _, err = await gwtui("keys", "list", "--demo", "--dialect", "openrouter")
        assert (code, "uses the dialect generic" in err) == (exits.IN_USE, True)
    assert not said(data).exists()
