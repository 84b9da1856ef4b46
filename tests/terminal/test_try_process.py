"""A try that a person interrupts: the connection closes at once, and the cost is spoken of."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

from gwtui.cli import exits
from loaded_program import start
from login_kit import served_gateway
from scripted_models import MODEL, ScriptedModels

PIECE = (
    b'data: {"id": "g", "object": "chat.completion.chunk", "created": 1, "model": "m", '
    b'"choices": [{"index": 0, "delta": {"content": "half"}, "finish_reason": null}]}\n\n'
)


def test_an_interrupt_hangs_up_and_says_that_it_may_be_billed(private_home: Path) -> None:
    models = ScriptedModels(body=[PIECE], stay=True)
    with served_gateway("simulated", before=models.before) as gateway:
        words = ("--model", MODEL, "--stream", "--prompt", "x", "--base-url", gateway.base_url)
        process = start(
            *("try", "chat", *words),
            env={**os.environ, "GWTUI_TRY_KEY": gateway.ordinary},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stdout.read(4) == b"half"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        until = time.monotonic() + 10
        while not models.left and time.monotonic() < until:
            time.sleep(0.02)
    assert process.returncode == exits.INTERRUPTED
    assert b"cancelled: the connection was closed" in said
    assert b"may be billed" in said
    assert models.left == [True]
