"""The key in use: what it may do is shown, and what it may not is never sent."""

from __future__ import annotations

from typing import Any

import pytest

from gwtui.client.errors import NoAnswerError, ReadOnlyError
from gwtui.client.services import KeysService
from gwtui.contract.keys import CreateKeyRequest
from gwtui.resources.actions import for_scope
from harness import dashboard, harness, has_data, notices, until
from screen_text import shown

WHY = "this key is not a management key"


async def test_a_management_key_may_write() -> None:
    async with harness() as place, dashboard(place, start="key") as (app, pilot):
        text = shown(app)
        assert "management key  yes" in text
        assert "none: no budget binds this key" in text
        assert app.hold_reason is None
        assert "READ-ONLY" not in text.splitlines()[0]
        await pilot.press("v")
        await until(pilot, lambda: '"is_management_key": true' in shown(app), "the raw answer")


@pytest.mark.parametrize("size", [(80, 24), (160, 40)])
async def test_another_key_turns_the_dashboard_read_only(size: tuple[int, int]) -> None:
    async with harness() as place:
        token = place.gateway.issue_key(management=False, name="plain")
        async with dashboard(place, start="models", token=token, size=size) as (
            app,
            pilot,
        ):
            await until(pilot, lambda: app.hold_reason is not None, "the rights")
            await until(pilot, lambda: "READ-ONLY" in shown(app).splitlines()[0], "the badge")
            assert (WHY in shown(app).splitlines()[0]) is (size[0] > 120)
            assert f"Nothing can be changed: {WHY}" in notices(app)
            context = app.navigation.screen.capture()  # type: ignore[union-attr]
            for action in for_scope("keys"):
                if action.mutates:
                    why = app.refusal(action, context)
                    assert why == f"{action.title}: {WHY}"
            with pytest.raises(ReadOnlyError):
                await app.gateway.keys.create(CreateKeyRequest(name="never"))
            await pilot.press("colon", *"key", "enter")
            await until(pilot, lambda: "all else needs" in " ".join(shown(app).split()), "the page")
            assert "management key  no" in shown(app)


async def test_rights_that_cannot_be_read_block_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def lost(_self: Any) -> Any:
        raise NoAnswerError("the gateway did not answer in time")

    monkeypatch.setattr(KeysService, "current", lost)
    async with harness() as place, dashboard(place) as (app, pilot):
        await pilot.pause(0.2)
        assert has_data(app)
        assert app.hold_reason is None
        assert "READ-ONLY" not in shown(app).splitlines()[0]


async def test_the_profile_says_it_first() -> None:
    async with harness() as place:
        token = place.gateway.issue_key(management=False, name="plain")
        async with dashboard(place, start="key", token=token, read_only=True, size=(160, 40)) as (
            app,
            _pilot,
        ):
            assert app.hold_reason == "this profile is read-only"
            assert WHY not in shown(app).splitlines()[0]
