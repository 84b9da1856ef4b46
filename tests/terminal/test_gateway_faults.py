"""``--fault`` on the command line: listed, checked before anything starts, and in force."""

from __future__ import annotations

import subprocess
from pathlib import Path

import httpx
import pytest

from gwtui.cli import exits
from loaded_program import run, start


@pytest.mark.parametrize("words", [("gateway", "serve"), ()], ids=["gateway", "demo"])
def test_the_list(words: tuple[str, ...]) -> None:
    listed = run(*words, "--fault", "list")
    assert listed.returncode == exits.OK
    assert "reset-after" in listed.stdout
    assert "POST /keys" in listed.stdout
    assert listed.stderr == ""


def test_a_fault_that_does_not_exist_starts_nothing(tmp_path: Path) -> None:
    database = tmp_path / "gateway.sqlite3"
    refused = run("gateway", "serve", "--database", str(database), "--fault", "hang:POST /kys")
    assert refused.returncode == exits.USAGE
    assert "did you mean 'POST /keys'?" in refused.stderr
    assert not database.exists()


def test_faults_need_a_gateway_of_our_own() -> None:
    refused = run("--fault", "hang")
    assert refused.returncode == exits.USAGE
    assert "--fault requires --demo" in refused.stderr


def test_a_served_gateway_has_them_in_force(tmp_path: Path) -> None:
    database = tmp_path / "gateway.sqlite3"
    words = ["gateway", "serve", "--port", "0", "--empty", "--database", str(database)]
    faults = ("--fault", "503=9:GET /models x1", "--fault", "reset-before:countModels")
    process = start(
        *words,
        *faults,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        with httpx.Client(trust_env=False) as client:
            first = client.get(f"{base_url}/models")
            assert (first.status_code, first.headers["retry-after"]) == (503, "9")
            assert client.get(f"{base_url}/models").status_code == 200
            with pytest.raises(httpx.ReadError):
                client.get(f"{base_url}/models/count")
    finally:
        process.terminate()
        _, narration = process.communicate(timeout=10)
    assert process.returncode == exits.OK
    assert "fault: 503=9:GET /models x1" in narration
    assert "Traceback" not in narration
