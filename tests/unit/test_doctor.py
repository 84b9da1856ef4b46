"""gwtui doctor: the report on a machine and on a gateway, reachable or not."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from pydantic import SecretStr

from gwtui.cli import exits
from gwtui.cli.main import main
from gwtui.client.connection import Connection
from gwtui.client.gateway import GatewayClient
from gwtui.contract.keys import CurrentKey
from gwtui.local import doctor
from gwtui.local.doctor import DoctorLine, TerminalInfo
from gwtui.local.paths import Paths
from gwtui.watch.feeds.doctor import gateway_lines, rights_line, tls_line
from resource_samples import NOW, wire_time

GOOD = TerminalInfo({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, (120, 40), "utf-8")
TMUX = {
    "escape-time": "10",
    "focus-events": "on",
    "set-clipboard": "external",
    "default-terminal": "tmux-256color",
    "terminal-features": "xterm*:clipboard:RGB",
}


def terminal(**environment: str) -> TerminalInfo:
    return replace(GOOD, environment={**GOOD.environment, **environment})


def verdict(line: DoctorLine) -> str:
    assert line.found
    assert line.verdict in {"ok", "unknown"} or line.advice, line
    return line.verdict


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (GOOD, "ok"),
        (replace(GOOD, size=(79, 24)), "advice"),
        (replace(GOOD, size=None), "unknown"),
        (terminal(TERM=""), "error"),
        (terminal(TERM="dumb"), "error"),
    ],
)
def test_terminals(facts: TerminalInfo, expected: str) -> None:
    assert verdict(doctor.terminal_line(facts)) == expected


@pytest.mark.parametrize(("encoding", "expected"), [("utf-8", "ok"), ("ANSI_X3.4-1968", "error")])
def test_encodings(encoding: str, expected: str) -> None:
    assert verdict(doctor.encoding_line(replace(GOOD, encoding=encoding))) == expected


@pytest.mark.parametrize(
    ("environment", "tmux", "expected"),
    [
        ({}, {}, "ok"),
        ({"COLORTERM": ""}, {}, "advice"),
        ({"COLORTERM": "", "TERM": "xterm"}, {}, "advice"),
        ({"COLORTERM": "", "TERM": "xterm-direct"}, {}, "ok"),
        ({"NO_COLOR": "1"}, {}, "advice"),
        ({"TMUX": "x"}, TMUX, "ok"),
        ({"TMUX": "x"}, {}, "advice"),
        ({"TMUX": "x"}, {"terminal-overrides": ",*:Tc"}, "ok"),
    ],
)
def test_colours(environment: dict[str, str], tmux: Mapping[str, str], expected: str) -> None:
    assert verdict(doctor.colours_line(terminal(**environment), tmux.get)) == expected


def test_tmux_and_the_clipboard() -> None:
    inside = terminal(TMUX="/tmp/tmux-0/default,1,0")

    def verdicts(facts: TerminalInfo, options: Mapping[str, str]) -> dict[str, str]:
        lines = [*doctor.tmux_lines(facts, options.get)]
        return {line.id: line.verdict for line in lines}

    assert verdicts(GOOD, {}) == {"tmux": "ok"}
    assert verdicts(inside, {}) == {"tmux": "unknown"}
    assert set(verdicts(inside, TMUX).values()) == {"ok"}
    poor = {"escape-time": "500", "focus-events": "off", "default-terminal": "screen"}
    assert verdicts(inside, poor) == {
        "tmux-escape-time": "advice",
        "tmux-focus-events": "advice",
        "tmux-set-clipboard": "unknown",
        "tmux-default-terminal": "advice",
    }
    assert "screen" in verdicts(terminal(STY="1"), {})
    for facts, options, expected in (
        (GOOD, {}, "OSC 52"),
        (inside, TMUX, "on to the terminal"),
        (inside, {"set-clipboard": "off"}, "no further"),
        (terminal(STY="1"), {}, "file"),
        (terminal(TERM="linux"), {}, "file"),
    ):
        assert expected in doctor.clipboard_line(facts, options.get).found


def test_readable_directories_are_reported_and_unchanged(tmp_path: Path) -> None:
    places = [tmp_path / name for name in ("config", "data", "state", "cache", "runtime")]
    for place in places[1:3]:
        place.mkdir()
    places[1].chmod(0o755)
    places[2].chmod(0o700)
    places[3].touch()
    lines = {line.id: line.verdict for line in doctor.directory_lines(Paths(*places))}
    assert lines == {
        "directory-config": "ok",
        "directory-data": "advice",
        "directory-state": "ok",
        "directory-cache": "error",
    }
    assert places[1].stat().st_mode & 0o777 == 0o755
    assert not places[0].exists()


def key(**fields: Any) -> CurrentKey:
    return CurrentKey.model_validate({"is_management_key": True, "expires_at": None, **fields})


def test_key_permissions() -> None:
    connection = Connection("https://gateway.example")
    for current, expected in (
        (key(), "ok"),
        (key(is_management_key=False), "advice"),
        (key(is_management_key=None), "unknown"),
        (key(expires_at=wire_time(NOW + timedelta(days=3))), "advice"),
        (None, "unknown"),
    ):
        assert rights_line(connection, current, NOW).verdict == expected
    assert (
        "read-only"
        in rights_line(Connection("https://a.example", read_only=True), key(), NOW).found
    )


async def test_a_gateway_with_an_untrusted_certificate_is_an_error(tmp_path: Path) -> None:
    context = _untrusted(tmp_path)
    served = await asyncio.start_server(lambda _r, w: w.close(), "127.0.0.1", 0, ssl=context)
    async with served:
        port = served.sockets[0].getsockname()[1]
        connection = Connection(f"https://localhost:{port}", SecretStr("t"))
        async with GatewayClient(connection) as client:
            gateway, tls, *_ = await gateway_lines(client, NOW)
    assert (gateway.verdict, "certificate is not trusted" in gateway.found) == ("error", True)
    assert tls.verdict == "ok"


def test_tls_is_needed_beyond_this_machine() -> None:
    plain = Connection("http://gateway.example", allow_plain_http=True)
    assert tls_line(plain).verdict == "error"
    assert tls_line(Connection("http://127.0.0.1:1")).verdict == "ok"


def _untrusted(folder: Path) -> ssl.SSLContext:
    """A server on localhost with a self-signed certificate."""
    now = datetime.now(UTC)
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    created = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(private, hashes.SHA256())
    )
    file = folder / "server.pem"
    file.write_bytes(
        private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + created.public_bytes(serialization.Encoding.PEM)
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    return server


def test_doctor_fails_when_the_gateway_is_unreachable(
    private_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GWTUI_TOKEN", "secret-of-a-doctor")
    monkeypatch.setenv("TERM", "xterm-256color")
    address = ("--base-url", "http://127.0.0.1:1/api/v1")
    assert main(["doctor", *address, "--output", "json"]) == exits.FAILED
    out, err = capsys.readouterr()
    lines = {row["id"]: row for row in json.loads(out)}
    assert lines["gateway"]["verdict"] == "error"
    assert "refused" in lines["gateway"]["found"]
    assert {lines[item]["verdict"] for item in ("clock", "rights")} == {"unknown"}
    assert lines["tls"]["verdict"] == "ok"
    assert "secret-of-a-doctor" not in out + err
    # Without a token or a gateway, the other checks still run.
    for words in (address, ()):
        assert main(["doctor", *words, "--columns", "id,verdict", "--output", "csv"]) == 1
        rows = capsys.readouterr().out.splitlines()
        assert {"key,error", "tmux,ok"} <= set(rows) or "tmux,unknown" in rows
        assert any(row.startswith("directory-state,") for row in rows)
