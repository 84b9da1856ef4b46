"""A dashboard on the real embedded gateway, for tests of test requests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pydantic import SecretStr
from textual.pilot import Pilot

from gwtui.client.gateway import GatewayClient
from gwtui.contract.guardrails import AssignKeysRequest, CreateGuardrailRequest
from gwtui.contract.keys import ApiKey, CreateKeyRequest
from gwtui.embedded.hosting import host_on_socket
from gwtui.local.ledger import Ledger
from gwtui.ui.actions.tries import AnswerScreen, TryScreen
from gwtui.ui.forms.field_editors import ChoiceEditor, LinesEditor, TextEditor
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.row import FieldRow
from gwtui.ui.forms.secret import SecretEditor
from gwtui.ui.widgets.lines import GrowingText, LinesView, OneLine
from harness import Harness, dashboard, harness, listing, until
from screen_text import screen_text
from scripted_models import ScriptedModels

MODEL = "northwind/atlas-large"
FILTERS = {
    "name": "Filters",
    "content_filter_builtins": [{"slug": "email", "action": "redact"}],
    "content_filters": [
        {"pattern": r"ACME-\d+", "action": "block", "label": "[ACME]"},
        {"pattern": "lighthouse", "action": "redact"},
    ],
}


@dataclass(repr=False)
class TryDesk(Harness):
    """A dashboard, a second administrator, and a key with a known value."""

    models: ScriptedModels = field(default_factory=ScriptedModels)
    key: ApiKey = field(init=False)
    value: SecretStr = field(init=False)

    def script(self, body: Any) -> None:
        """Script the responses of models from now on; their streams do not end."""
        self.models.body, self.models.stay = body, True
        self.models.requests.clear()
        self.models.disconnects.clear()

    async def bind(self) -> None:
        """Put the key under a guardrail with filters."""
        async with self.colleague() as client:
            await put_filters(client, self.key.hash or "")

    async def open(self) -> TryScreen:
        """Open the form for the key."""
        identity = self.key.hash or ""
        listing(self.app).show_row(identity, detail=False)
        table = listing(self.app).table
        await until(self.pilot, lambda: table.selected_identity == identity, "the key")
        await self.pilot.press("T")
        form = await self.wait_for(TryScreen)
        assert isinstance(form, TryScreen)
        return form

    async def fill(self, **typed: Any) -> None:
        """Fill in fields, replacing their values; True and False set switches."""
        await fill(self.pilot, **typed)

    async def send(self, prompt: str = "What is a key?", **typed: Any) -> AnswerScreen:
        """Fill in what is missing, send the request, wait for the end of the answer."""
        if not isinstance(self.app.screen, TryScreen):
            await self.open()
        required = {"model": MODEL, "prompt": prompt, "key": self.value}
        await self.fill(**required, **typed)
        await self.pilot.press("ctrl+s")
        answer = await self.wait_for(AnswerScreen)
        assert isinstance(answer, AnswerScreen)
        return answer

    async def over(self, answer: AnswerScreen) -> None:
        await until(self.pilot, lambda: answer.tried is not None, "the end of the answer")
        await until(self.pilot, lambda: answer.tried and answer.tried.key, "the key's rest")

    def answer_text(self) -> str:
        return self.app.screen.query_one("#try-answer", GrowingText).text

    def figures(self) -> str:
        return self.app.screen.query_one("#try-figures", LinesView).text

    def state(self) -> str:
        return self.app.screen.query_one("#try-state", OneLine).text

    def screen_text(self) -> str:
        return screen_text(self.app)


async def put_filters(client: GatewayClient, key: str) -> None:
    """Put a key under a guardrail with filters."""
    created = await client.guardrails.create(CreateGuardrailRequest.model_validate(FILTERS))
    await client.guardrails.assign_keys(created.id or "", AssignKeysRequest(key_hashes=[key]))


async def fill(pilot: Pilot[Any], **typed: Any) -> None:
    """Fill in fields of the open form; a secret is pasted."""
    form = pilot.app.screen
    assert isinstance(form, FormScreen)
    for name, expected in typed.items():
        editor = form.query_one(f"#{form.state.fields[name].row_id}", FieldRow).editor
        match editor:
            case SecretEditor():
                editor.value = expected.get_secret_value()
            case TextEditor():
                editor.value = expected
            case LinesEditor():
                editor.text = expected
            case ChoiceEditor():
                editor.chosen = [value for value, _ in editor._options].index(expected)
        await pilot.pause()


@asynccontextmanager
async def try_desk(
    folder: Path,
    *,
    size: tuple[int, int] = (120, 40),
    read_only: bool = False,
    models: ScriptedModels | None = None,
    speed: float = 20,
    **key: Any,
) -> AsyncIterator[TryDesk]:
    """With ``models``, responses of models are scripted."""
    async with AsyncExitStack() as stack:
        options = {} if models is None else {"models": models}
        desk = await stack.enter_async_context(harness(TryDesk, speed=speed, **options))
        if models is not None:
            await desk.stop()
            host = SimpleNamespace(
                asgi=models.before(desk.gateway.asgi), faults=None, clock=desk.gateway.clock
            )
            await stack.enter_async_context(host_on_socket(host, desk.socket))  # type: ignore[arg-type]
        async with desk.colleague() as client:
            request = {"name": "tried", "limit": 5, **key}
            created = await client.keys.create(CreateKeyRequest.model_validate(request))
        assert created.data is not None
        assert created.key is not None
        desk.key, desk.value = created.data, created.key
        ledger = Ledger(folder / "audit.jsonl")
        async with dashboard(desk, size=size, read_only=read_only, ledger=ledger):
            yield desk
