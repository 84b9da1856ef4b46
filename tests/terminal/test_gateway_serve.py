"""``gwtui gateway`` as a process: a real socket, keys on stdout, clean ends."""

from __future__ import annotations

import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from gwtui.cli import exits
from loaded_program import run, start


def gateway(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return run("gateway", *words)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "gateway.sqlite3"


@pytest.fixture
def server(database: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    words = ("gateway", "serve", "--port", "0", "--database", database)
    process = start(
        *words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    base_url = process.stdout.readline().strip()
    yield process, base_url
    if process.poll() is None:
        process.kill()
    process.communicate(timeout=10)


def get(url: str, key: str | None) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    with httpx.Client(trust_env=False) as client:
        return client.get(url, headers=headers)


def test_issued_keys_are_accepted(
    server: tuple[subprocess.Popen[str], str], database: Path
) -> None:
    _, base_url = server
    assert base_url.endswith("/api/v1")
    issued = gateway("issue-key", "--management", "--database", database)
    assert issued.returncode == exits.OK
    key = issued.stdout.strip()
    assert issued.stdout == f"{key}\n"
    response = get(f"{base_url}/keys", key)
    assert response.status_code == 200
    assert response.json()["data"]
    assert get(f"{base_url}/keys", None).status_code == 401
    ordinary = gateway("issue-key", "--database", database).stdout.strip()
    refused = get(f"{base_url}/keys", ordinary)
    assert refused.status_code == 403
    assert refused.json()["error"]["message"] == "Only management keys can perform this operation"


def test_servers_that_cannot_start_report_the_reason(
    server: tuple[subprocess.Popen[str], str], database: Path, tmp_path: Path
) -> None:
    port = server[1].rsplit(":", 1)[1].split("/")[0]
    broken = tmp_path / "broken.sqlite3"
    broken.write_text("this is no database, not at all" * 40)
    for port_option, path, code, reason in (
        ("0", database, exits.IN_USE, str(database)),
        (port, tmp_path / "other.sqlite3", exits.FAILED, port),
        ("0", broken, exits.FAILED, str(broken)),
    ):
        failed = gateway("serve", "--port", port_option, "--database", path)
        assert (failed.returncode, failed.stdout) == (code, "")
        assert reason in failed.stderr
        assert "Traceback" not in failed.stderr


def test_issue_key_creates_the_database(database: Path) -> None:
    issued = gateway("issue-key", "--management", "--database", database, "--empty")
    assert issued.returncode == exits.OK
    assert len(issued.stdout.split()) == 1
    assert "created the database" in issued.stderr
    assert stat.S_IMODE(database.stat().st_mode) == 0o600


def test_faults_are_listed_validated_and_injected(database: Path) -> None:
    listed = gateway("serve", "--fault", "list")
    assert (listed.returncode, listed.stderr) == (exits.OK, "")
    assert "reset-after" in listed.stdout
    assert "POST /keys" in listed.stdout
    words = ("gateway", "serve", "--port", "0", "--empty", "--database", database, "--fault")
    refused = run(*words, "hang:POST /kys")
    assert refused.returncode == exits.USAGE
    assert "no operation is 'POST /kys'" in refused.stderr
    assert not database.exists()
    with start(*words, "503=9:GET /models x1", stdout=subprocess.PIPE, text=True) as process:
        base_url = process.stdout.readline().strip()
        fault_response = get(f"{base_url}/models", None)
        assert (fault_response.status_code, fault_response.headers["retry-after"]) == (503, "9")
        assert get(f"{base_url}/models", None).status_code == 200
        process.terminate()
    assert process.returncode == exits.OK
