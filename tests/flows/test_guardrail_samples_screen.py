"""Testing a guardrail with samples from the dashboard, on the real embedded gateway."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import SecretStr

from gwtui.contract.guardrails import Guardrail
from gwtui.local.guardrail_samples import (
    GuardrailSample,
    load_samples,
    samples_path,
    save_samples,
)
from gwtui.local.paths import Paths
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.screens.guardrail_samples import SamplesScreen
from gwtui.ui.widgets.lines import OneLine
from scripted_models import ScriptedModels
from shared_dashboard import walk
from shell_kit import listing, until
from tries_screen_kit import MODEL, TryDesk, try_desk


def sample(name: str, prompt: str, expect: str) -> GuardrailSample:
    body = {"name": name, "prompt": prompt, "expect": expect}
    return GuardrailSample.model_validate(body)


SAMPLES = (
    sample("a mail address", "Write to ana@example.com", "redact"),
    sample("an order", "What about ACME-12?", "block"),
    sample("small talk", "How are you?", "pass"),
    sample("thought to be blocked", "The lighthouse", "block"),
)


async def bound(desk: TryDesk) -> Guardrail:
    """The guardrail of the key, made by the first who asks."""
    async with desk.colleague() as client:
        known = {one.name: one for one in (await client.guardrails.list()).items}
    return known.get("Filters") or await desk.bind()


async def opened(desk: TryDesk, guardrail: Guardrail) -> SamplesScreen:
    await desk.app.open_route(f"guardrails/{guardrail.name}")
    await until(desk.pilot, lambda: listing(desk.app).resource == "guardrails", "the guardrails")
    table = listing(desk.app).table
    await until(desk.pilot, lambda: table.selected_identity == guardrail.id, "the guardrail")
    await desk.pilot.press("p")
    screen = await desk.wait_for(SamplesScreen)
    assert isinstance(screen, SamplesScreen)
    return screen


def kept_for(guardrail: Guardrail) -> Path:
    return samples_path(Paths.of_user().config, "test", guardrail.id or "")


async def run(desk: TryDesk, value: SecretStr) -> SamplesScreen:
    await desk.pilot.press("R")
    await desk.wait_for(FormScreen)
    await desk.fill(model=MODEL, key=value)
    await desk.pilot.press("ctrl+s")
    screen = await desk.wait_for(SamplesScreen)
    assert isinstance(screen, SamplesScreen)
    return screen


def said(screen: SamplesScreen) -> str:
    return screen.query_one("#samples-state", OneLine).text


def got(screen: SamplesScreen) -> Sequence[str]:
    return [row.got.text for row in screen._rows]


async def samples_are_run_and_what_differs_is_seen(desk: TryDesk) -> None:
    guardrail = await bound(desk)
    save_samples(kept_for(guardrail), SAMPLES)
    screen = await opened(desk, guardrail)
    assert said(screen) == "4 samples, not run yet"
    await run(desk, desk.value)
    await until(desk.pilot, lambda: "4 of 4 run" in said(screen), "the end of the run")
    await until(desk.pilot, lambda: not screen.under_way, "the end of the worker")
    assert got(screen) == ["✓ redact", "✓ block", "✓ pass", "✗ flag"]
    assert "1 differs" in said(screen)
    assert "R runs them all" in desk.shown()
    assert "redacted 1: email" in desk.shown()
    await desk.pilot.press("escape")
    await until(desk.pilot, lambda: desk.app.screen is listing(desk.app), "the list")


async def the_form_of_a_guardrail_opens_its_samples(desk: TryDesk) -> None:
    guardrail = await bound(desk)
    save_samples(kept_for(guardrail), SAMPLES)
    await opened(desk, guardrail)
    await desk.pilot.press("escape")
    await desk.pilot.press("e")
    form = await desk.wait_for(FormScreen)
    await desk.fill(name="other")
    await desk.pilot.press("f3")
    screen = await desk.wait_for(SamplesScreen)
    assert said(screen) == "4 samples, not run yet"
    await until(desk.pilot, lambda: "not what is typed here" in desk.notices(), "the notice")
    await desk.pilot.press("escape")
    assert await desk.wait_for(FormScreen) is form
    assert form.state.typed("name") == "other"


async def a_guardrail_that_is_not_made_has_no_samples(desk: TryDesk) -> None:
    await opened(desk, await bound(desk))
    await desk.pilot.press("escape")
    await desk.pilot.press("n")
    await desk.wait_for(FormScreen)
    await desk.pilot.press("f3")
    await until(desk.pilot, lambda: "Create the guardrail first" in desk.notices(), "why not")


async def samples_are_made_changed_and_deleted_in_the_file(desk: TryDesk) -> None:
    guardrail = await bound(desk)
    path = kept_for(guardrail)
    screen = await opened(desk, guardrail)
    assert "No sample yet" in desk.shown()
    await desk.pilot.press("n")
    await desk.wait_for(FormScreen)
    await desk.fill(name="one", prompt="Hello", expect="pass")
    await desk.pilot.press("ctrl+s")
    await desk.wait_for(SamplesScreen)
    assert load_samples(path) == (sample("one", "Hello", "pass"),)
    await desk.pilot.press("n")
    form = await desk.wait_for(FormScreen)
    await desk.fill(name="one", prompt="Again", expect="flag")
    await desk.pilot.press("ctrl+s")
    await until(desk.pilot, lambda: form.state.problem("name"), "the refusal of the name")
    await desk.fill(name="two")
    await desk.pilot.press("ctrl+s")
    await desk.wait_for(SamplesScreen)
    await until(desk.pilot, lambda: len(screen.samples) == 2, "both")
    screen._table.select("two")
    await desk.pilot.press("e")
    await desk.wait_for(FormScreen)
    await desk.fill(expect="redact")
    await desk.pilot.press("ctrl+s")
    await desk.wait_for(SamplesScreen)
    assert [one.expect for one in load_samples(path)] == ["pass", "redact"]
    assert path.stat().st_mode & 0o777 == 0o600
    for name in ("two", "one"):
        screen._table.select(name)
        await desk.pilot.press("D")
        await desk.wait_for(AskScreen)
        await desk.pilot.press("y")
        await desk.wait_for(SamplesScreen)
    await until(desk.pilot, lambda: not screen.samples, "none")
    assert not path.exists()


async def test_samples_of_a_guardrail(tmp_path: Path) -> None:
    async with try_desk(tmp_path) as desk:
        await walk(
            desk,
            samples_are_made_changed_and_deleted_in_the_file,
            samples_are_run_and_what_differs_is_seen,
            the_form_of_a_guardrail_opens_its_samples,
            a_guardrail_that_is_not_made_has_no_samples,
        )


async def test_escape_stops_a_run(tmp_path: Path) -> None:
    models = ScriptedModels(body=[json.dumps({}).encode()], stay=True)
    async with try_desk(tmp_path, models=models) as desk:
        guardrail = await desk.bind()
        save_samples(kept_for(guardrail), SAMPLES)
        screen = await opened(desk, guardrail)
        await run(desk, desk.value)
        await until(desk.pilot, lambda: models.asked, "the first sample")
        await desk.pilot.press("escape")
        await until(desk.pilot, lambda: models.left, "the end of the connection")
        await until(desk.pilot, lambda: "Stopped" in said(screen), "the sentence")
        assert desk.app.screen is screen
        assert len(models.asked) == 1
        assert got(screen) == ["not run"] * 4


async def test_a_key_outside_the_guardrail_is_told_and_one_that_fails_ends_the_run(
    tmp_path: Path,
) -> None:
    async with try_desk(tmp_path) as desk:
        guardrail = await desk.bind()
        save_samples(kept_for(guardrail), SAMPLES)
        screen = await opened(desk, guardrail)
        await run(desk, SecretStr("gw-v1-0123456789abcdef0123456789abcdef"))
        await until(desk.pilot, lambda: "Stopped: key not usable" in said(screen), "the end")
        assert got(screen) == ["not run"] * 4


async def test_read_only_holds_samples_back(tmp_path: Path) -> None:
    async with try_desk(tmp_path, read_only=True) as desk:
        await desk.app.open_route("guardrails")
        await until(desk.pilot, lambda: listing(desk.app).resource == "guardrails", "the list")
        await until(desk.pilot, lambda: listing(desk.app).table.total_count, "rows")
        await desk.pilot.press("p")
        await until(desk.pilot, desk.notices, "the sentence")
        assert "a try costs money" in desk.notices()
