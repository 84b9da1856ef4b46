"""``gwtui try``: requests, plans, stdout and exit codes."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from gwtui.cli import exits
from login_kit import Commands, ServedGateway, served_gateway
from scripted_models import MODEL, ScriptedModels, result

PROMPT = "PROMPT-SENTINEL what is a lighthouse?"
CHAT = ("try", "chat", "--model", MODEL)
VECTORS = "tessera/vector-3"
COMPARE = ("try", "compare", "--model", MODEL, "--prompt", "x", "--endpoint", "northwind")
TAGS = ["northwind", "quasar"]


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[ServedGateway, ScriptedModels]]:
    models = ScriptedModels()
    with served_gateway("simulated", before=models.before) as gateway:
        yield gateway, models


@pytest.fixture
def key(served: tuple[ServedGateway, ScriptedModels]) -> str:
    return served[0].ordinary


@pytest.fixture
def models(
    served: tuple[ServedGateway, ScriptedModels],
    private_home: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> ScriptedModels:
    gateway, models = served
    monkeypatch.setenv("GWTUI_BASE_URL", gateway.base_url)
    models.status, models.body, models.stay, models.down = 200, result(), False, ""
    models.requests, models.keys, models.disconnects = [], [], []
    return models


@dataclass
class Tries(Commands):
    """Commands with the key in the environment, which each command removes."""

    key: str = ""

    def __call__(self, *words: str, stdin: str = "") -> tuple[int, str, str]:
        self.monkeypatch.setenv("GWTUI_TRY_KEY", self.key)
        return super().__call__(*words, stdin=stdin)


@pytest.fixture
def gwtui(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], key: str) -> Tries:
    return Tries(monkeypatch, capsys, key)


def refusing(models: ScriptedModels, status: int, message: str, **metadata: Any) -> None:
    models.status = status
    models.body = {"error": {"code": status, "message": message, "metadata": metadata}}


def chunk(content: str, **fields: Any) -> bytes:
    body = {
        "id": "gen-scripted",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": MODEL,
        "provider": "Northwind",
        "choices": [{"index": 0, "delta": {"content": content}, "finish_reason": None}],
        **fields,
    }
    return f"data: {json.dumps(body)}\n\n".encode()


STOP = [{"index": 0, "delta": {}, "finish_reason": "stop"}]
USAGE = {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14, "cost": 0.000073}
STREAM = [
    b": PROCESSING\n\n",
    chunk("A light"),
    chunk("house."),
    chunk("", choices=STOP, usage=USAGE),
    b"data: [DONE]\n\n",
]


# Requests


def test_the_answer_is_on_stdout_and_figures_are_on_stderr(
    gwtui: Tries, models: ScriptedModels, key: str
) -> None:
    words = ("--provider", "northwind", "--temperature", "0.2", "--seed", "7", "--max-tokens", "9")
    code, out, err = gwtui(*CHAT, "--prompt", PROMPT, "--system", "be brief", *words)
    assert (code, out) == (exits.OK, "A lighthouse.\n")
    assert err.startswith(f"✓ Answered: {MODEL}\n")
    rows = [" ".join(line.split()) for line in err.splitlines()]
    assert {"generation gen-scripted", "finished stop", "tokens 10 prompt + 4 answer"} <= {*rows}
    assert "cost $0.00012 (the prices give $0.000073: base price)" in rows
    assert any(row.startswith("✓ Northwind") and row.endswith("served it") for row in rows)
    assert key not in out + err
    assert models.requests == [
        {
            "model": MODEL,
            "messages": [
                {"role": "system", "content": "be brief"},
                {"role": "user", "content": PROMPT},
            ],
            "provider": {"only": ["northwind"]},
            "temperature": 0.2,
            "seed": 7,
            "max_tokens": 9,
            "stream": False,
        }
    ]
    assert models.keys == [f"Bearer {key}"]


def test_the_prompt_may_come_from_a_file_or_on_stdin(
    gwtui: Tries, models: ScriptedModels, tmp_path: Any
) -> None:
    (tmp_path / "prompt").write_text("from a file")
    assert gwtui(*CHAT, "--file", str(tmp_path / "prompt"))[0] == exits.OK
    assert gwtui(*CHAT, stdin="from stdin")[0] == exits.OK
    prompts = [row["messages"][0]["content"] for row in models.requests]
    assert prompts == ["from a file", "from stdin"]


def test_the_key_may_come_on_stdin_or_from_a_command(
    gwtui: Tries,
    models: ScriptedModels,
    tmp_path: Any,
    key: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gwtui.key = "gw-v1-another"
    assert gwtui(*CHAT, "--prompt", "x", "--key-stdin", stdin=f"{key}\n")[0] == exits.OK
    script = tmp_path / "key"
    script.write_text(
        f"#!{sys.executable}\nimport os\n"
        f"inherited = {{'GWTUI_TOKEN', 'GWTUI_TRY_KEY'}} & set(os.environ)\n"
        f"print('gw-v1-inherited' if inherited else '{key}')"
    )
    script.chmod(0o700)
    monkeypatch.setenv("GWTUI_TOKEN", "gw-mgmt-v1-x")
    gwtui.expect(exits.OK, *CHAT, "--prompt", "x", "--key-command", str(script))
    assert models.keys == [f"Bearer {key}"] * 2


def test_a_stream_is_printed_as_it_comes(gwtui: Tries, models: ScriptedModels) -> None:
    models.body = STREAM
    code, out, err = gwtui(*CHAT, "--prompt", "x", "--stream")
    assert (code, out) == (exits.OK, "A lighthouse.\n")
    rows = [" ".join(line.split()) for line in err.splitlines()]
    assert any(re.fullmatch(r"first token [0-9.]+ m?s", row) for row in rows)
    assert "cost $0.000073 (base price)" in rows
    assert models.requests[0]["stream"] is True


def test_json_has_everything(gwtui: Tries, models: ScriptedModels) -> None:
    stage = {"type": "guardrail", "name": "f", "data": {"matches": [{"action": "redact"}]}}
    models.body = result(service_metadata={"strategy": "direct", "pipeline": [stage]})
    code, out, err = gwtui(*CHAT, "--prompt", PROMPT, "--output", "json")
    document = json.loads(out)
    assert (code, err) == (exits.OK, "")
    assert document["text"] == "A lighthouse."
    assert (document["cost_usd"], document["estimated_cost_usd"]) == (0.00012, 0.000073)
    assert (document["generation_id"], document["finish_reason"]) == ("gen-scripted", "stop")
    assert document["guardrail"] == "redact"
    assert document["usage"]["prompt_tokens"] == 10
    assert document["error"] is None


def test_vectors_are_shown_and_given_whole_as_json(
    gwtui: Tries, models: ScriptedModels, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    models.body = {
        "object": "list",
        "model": VECTORS,
        "data": [{"object": "embedding", "embedding": [0.25, -0.5], "index": 0}],
        "usage": {"prompt_tokens": 2, "total_tokens": 2, "cost": 0.0000001},
    }
    words = ("try", "embed", "--model", VECTORS, "--prompt", "a", "--prompt", "b")
    out, err = gwtui.expect(exits.OK, *words, "--dimensions", "2")
    assert "0.2500, -0.5000" in out
    assert "2 tokens" in err
    assert models.requests[0] == {"model": VECTORS, "input": ["a", "b"], "dimensions": 2}
    out, _ = gwtui.expect(exits.OK, *words, "--output", "json")
    assert json.loads(out)["data"][0]["embedding"] == [0.25, -0.5]


# Requests that are not sent


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--prompt", " "), "the prompt is empty"),
        (("--prompt", "x", "--file", "y"), "not both"),
        (("--file", "missing"), "No such file"),
        (("--prompt", "x", "--max-tokens", "-1"), "max_tokens: must be at least 1"),
        (("--prompt", "x", "--temperature", "3"), "temperature: must be from 0 to 2"),
        (("--prompt", "x", "--max-cost", "0.000001"), "it may cost up to"),
        (("--prompt", "x", "--max-tokens", "0"), "it may cost up to $0.845"),
        (("--prompt", "x", "--max-cost", "much"), "expected a number in USD, such as 12.5"),
        (("--prompt", "x", "--key-command", "'"), "not a valid command"),
        (("--key-stdin",), "reads the key from stdin"),
        (("--prompt", "x", "--model", "northwind/atlas-larg"), f"did you mean '{MODEL}'"),
    ],
)
def test_invalid_requests_are_not_sent(
    gwtui: Tries, models: ScriptedModels, words: tuple[str, ...], message: str
) -> None:
    out, err = gwtui.expect(exits.USAGE, *CHAT, *words)
    assert message in err
    assert out == ""
    assert not models.requests


def test_a_key_is_needed(gwtui: Tries, models: ScriptedModels) -> None:
    gwtui.key = ""
    code, _, err = gwtui(*CHAT, "--prompt", "x")
    assert (code, "GWTUI_TRY_KEY" in err, models.requests) == (exits.USAGE, True, [])


def test_read_only_sends_nothing_unless_tries_are_allowed(
    gwtui: Tries, models: ScriptedModels, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, err = gwtui.expect(exits.FAILED, *CHAT, "--prompt", "x", "--read-only")
    assert "--allow-tries" in err
    assert not models.requests
    words = ("--read-only", "--allow-tries", "--max-tokens", "0", "--max-cost", "none")
    assert gwtui(*CHAT, "--prompt", "x", *words)[0] == exits.OK
    assert "max_tokens" not in models.requests[0]


# The plan


def test_a_plan_says_what_is_left_why_and_what_it_may_cost(
    gwtui: Tries, models: ScriptedModels, key: str
) -> None:
    words = ("--prompt", "x", "--provider", "northwind", "--plan")
    out, err = gwtui.expect(exits.OK, *CHAT, *words)
    assert "northwind" in out
    for text in (
        "excluded quasar: provider not allowed",
        "excluded northwind/flex: ",
        "unknown: restrictions of the key: reading them needs a management key",
        "worst-case cost: $0.00",
    ):
        assert text in err
    assert "would not be sent" not in err
    assert not models.requests


def test_a_plan_as_json_and_one_that_would_be_refused(
    gwtui: Tries, models: ScriptedModels, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, _ = gwtui(*CHAT, "--prompt", "x", "--plan", "--max-cost", "0", "--output", "json")
    document = json.loads(out)
    assert code == exits.FAILED
    tags = {"northwind", "quasar", "tidepool/eu", "kestrel"}
    assert {row["endpoint"] for row in document["left"]} == tags
    assert document["excluded"][0]["reasons"] == ["tier not requested"]
    assert document["most_usd"] == max(row["most_usd"] for row in document["left"])
    assert "more than the maximum" in document["refused"]
    _, err = gwtui.expect(exits.FAILED, *CHAT, "--prompt", "x", "--plan", "--provider", "nobody")
    assert "none of 6 endpoints is possible" in err


def test_a_plan_with_a_management_key_knows_what_restricts_the_key(
    gwtui: Tries,
    models: ScriptedModels,
    served: tuple[ServedGateway, ScriptedModels],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    only = ("--set", "name=Only-Kestrel", "--set", 'allowed_providers=["kestrel"]', "--yes")
    for words in (
        ("keys", "create", "--set", "name=planned", "--yes"),
        ("guardrails", "create", *only),
        ("guardrails", "assign", "Only-Kestrel", "--key", "planned", "--yes"),
        (*CHAT, "--prompt", "x", "--plan", "--output", "json"),
    ):
        monkeypatch.setenv("GWTUI_TOKEN", served[0].management)
        out, _ = gwtui.expect(exits.OK, *words)
        if words[0] == "keys":
            gwtui.key = out.strip()
    document = json.loads(out)
    assert {row["endpoint"] for row in document["left"]} == {"kestrel"}
    assert document["not_read"] == []
    assert ["provider not allowed"] in [row["reasons"] for row in document["excluded"]]


# Refusals and failures


@pytest.mark.parametrize(
    ("status", "message", "expected"),
    [
        (
            403,
            "Request blocked by content filter: Email",
            (exits.BLOCKED, "blocked by", "nothing was sent"),
        ),
        (402, "Insufficient credits", (exits.FAILED, "credits needed", "buy credits")),
        (401, "User not found.", (exits.FAILED, "key not usable", "inference key")),
        (400, "x is not a valid model ID", (exits.FAILED, "unknown model", "gwtui models list")),
        (403, "Key limit exceeded (daily limit)", (exits.FAILED, "key limit used up", "raise")),
        (502, "Provider returned error", (exits.FAILED, "provider failed", "another provider")),
        (400, "maximum context length is 1", (exits.FAILED, "prompt too long", "shorten")),
    ],
)
def test_each_refusal_says_what_to_do(
    gwtui: Tries,
    models: ScriptedModels,
    status: int,
    message: str,
    expected: tuple[int, str, str],
) -> None:
    code, kind, remedy = expected
    refusing(models, status, message)
    exit_code, out, err = gwtui(*CHAT, "--prompt", PROMPT)
    assert (exit_code, out) == (code, "")
    assert f"gwtui: {kind}" in err
    assert message in err
    assert remedy in err
    assert "PROMPT-SENTINEL" not in err
    assert len(models.requests) == 1


def test_a_refusal_as_json(gwtui: Tries, models: ScriptedModels) -> None:
    refusing(models, 404, "0 endpoints", failed_routing_step="Filter by Guardrails")
    code, out, _ = gwtui(*CHAT, "--prompt", "x", "--output", "json")
    document = json.loads(out)["error"]
    assert code == exits.FAILED
    assert (document["kind"], document["status"]) == ("no endpoint left", 404)
    assert document["details"] == ["no endpoint left after the step: Filter by Guardrails"]


def test_an_answer_that_breaks_off_keeps_what_had_come(
    gwtui: Tries, models: ScriptedModels, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    models.body = [chunk("half")]
    code, out, err = gwtui(*CHAT, "--prompt", "x", "--stream")
    assert (code, out) == (exits.UNKNOWN, "half\n")
    assert "may be billed" in err
    models.body = [chunk("half"), chunk("", choices=[], error={"code": 502, "message": "gone"})]
    code, out, err = gwtui(*CHAT, "--prompt", "x", "--stream")
    assert (code, out) == (exits.FAILED, "half\n")
    assert "gone" in err


def test_hostile_text_is_marked_on_a_terminal_and_passed_on_in_a_pipe(
    gwtui: Tries, models: ScriptedModels, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    models.body = result("\x1b]0;owned\x07[bold]x")
    assert gwtui(*CHAT, "--prompt", "x")[1] == "\x1b]0;owned\x07[bold]x\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    _, out, _ = gwtui(*CHAT, "--prompt", "x")
    assert "\x1b" not in out
    assert "[bold]x" in out
    refusing(models, 403, "no \x1b[2J", reasons=["\x1b[2J"])
    assert "\x1b" not in gwtui(*CHAT, "--prompt", "x")[2]


def test_prompt_answer_and_key_stay_off_the_disk(
    gwtui: Tries, models: ScriptedModels, private_home: Any, key: str
) -> None:
    models.body = result("ANSWER-SENTINEL")
    assert gwtui(*CHAT, "--prompt", PROMPT, "--log-level", "debug")[0] == exits.OK
    results = [path.read_bytes() for path in private_home.rglob("*") if path.is_file()]
    for secret in (key, "PROMPT-SENTINEL", "ANSWER-SENTINEL"):
        assert not any(secret.encode() in content for content in results)


# Comparison


def test_answers_stand_side_by_side_and_one_that_fails_does_not_stop_the_others(
    gwtui: Tries, models: ScriptedModels
) -> None:
    models.body = STREAM
    out, err = gwtui.expect(exits.OK, *COMPARE, "--endpoint", "quasar")
    head, *rows = out.splitlines()
    assert head.split()[0] == "endpoint"
    assert [row.split()[0] for row in rows] == TAGS
    assert all(" ms" in row and "$" in row for row in rows)
    assert "total cost: $0.000146" in err
    models.down, models.requests = "quasar", []
    words = (*COMPARE, "--endpoint", "quasar", "--in-turn")
    out, err = gwtui.expect(exits.INCOMPLETE, *words, "--output", "json")
    assert [row["provider"]["only"] for row in models.requests] == [[tag] for tag in TAGS]
    first, second = json.loads(out)["compared"]
    assert (first["endpoint"], first["text"], first["error"]) == (TAGS[0], "A lighthouse.", None)
    assert second["error"]["kind"] == "provider failed"
    assert "provider failed: it is down" in gwtui(*words)[1].splitlines()[2]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--endpoint", "northwind"), exits.USAGE, "each endpoint is compared once"),
        (("--endpoint", "nrthwind"), exits.USAGE, "has no endpoint nrthwind"),
        ((), exits.USAGE, "2 to 4 can be compared"),
        (("--endpoint", "quasar", "--max-cost", "0.000001"), exits.USAGE, "it may cost up to"),
        (("--endpoint", "quasar", "--read-only"), exits.FAILED, "read-only"),
    ],
)
def test_invalid_comparisons_are_not_sent(
    gwtui: Tries, models: ScriptedModels, words: tuple[str, ...], code: int, message: str
) -> None:
    exit_code, out, err = gwtui(*COMPARE, *words)
    assert (exit_code, out, message in err) == (code, "", True), err
    assert not models.requests
