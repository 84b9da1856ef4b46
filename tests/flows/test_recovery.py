"""Writes whose response was lost: offered, inspected and resolved, on a real gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from textual.widgets import Button

from gwtui.contract.keys import ApiKey, CreateKeyRequest
from gwtui.crud.executor import WriteExecutor
from gwtui.crud.fields import PlanContext
from gwtui.crud.plan import Applied, Confirmation, Plan, Unknown
from gwtui.embedded.faults import FaultInjector
from gwtui.local.ledger import this_process
from gwtui.resources.keys.writes import WRITES as KEY_WRITES
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.secret import SecretScreen
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.screens.picker import Picker
from gwtui.ui.screens.recovery import RecoveryScreen
from harness import Harness, dashboard, harness, has_data, line, listing
from screen_text import screen_text

RESET_AFTER, RESET_BEFORE = "reset-after", "reset-before"


class RecoveryHarness(Harness):
    """A gateway with injectable failures."""

    def lose(self, fault: str) -> None:
        """Lose the response to the next write."""
        assert self.faults is not None
        self.faults.arm(f"{fault}:writes x1")

    async def lost_before(self, fault: str, *plans: Plan[Any]) -> None:
        """An unresolved write of an earlier run."""
        async with self.colleague() as client:
            executor = WriteExecutor(client, self.ledger, self.clock)
            for plan in plans:
                self.lose(fault)
                assert isinstance(await executor.execute(Confirmation(plan, "form")), Unknown)

    def creation(self, name: str) -> Plan[Any]:
        return KEY_WRITES.plan_create(CreateKeyRequest(name=name), PlanContext(self.clock.now()))

    async def evidence(self) -> RecoveryScreen:
        screen: RecoveryScreen = await self.wait_for(RecoveryScreen)
        await self.until(lambda: screen.evidence is not None, "the evidence")
        return screen

    async def agree(self, key: str) -> None:
        """Press a key that opens a question, and confirm it."""
        await self.press(key, opens=AskScreen)
        await self.press("y")

    async def keys(self) -> list[ApiKey]:
        async with self.colleague() as client:
            return list((await client.keys.list()).items)


@pytest.fixture
async def desk() -> AsyncIterator[RecoveryHarness]:
    async with harness(RecoveryHarness, faults=FaultInjector()) as place:
        yield place


async def test_a_lost_creation_is_inspected_and_its_key_disabled(desk: RecoveryHarness) -> None:
    async with dashboard(desk, size=(80, 24)) as (app, _):
        await desk.press("n", opens=FormScreen)
        desk.lose(RESET_AFTER)
        await desk.press(*"ci deploy", "tab", "5", "ctrl+s")
        await desk.reads("Outcome unknown")
        await desk.press("enter")
        screen = await desk.evidence()
        assert screen.evidence is not None
        (candidate,) = screen.evidence.candidates
        text = screen_text(app)
        assert "1 key created within an hour of this change" in text
        assert "ci deploy" in text
        assert "as requested" in text
        assert "the connection to demo broke" in text
        await desk.press("h", opens=AskScreen)
        await desk.press("escape")
        await desk.until(lambda: app.screen is screen, "the evidence")
        assert len(desk.ledger.open_writes()) == 1, "inspecting resolves nothing"
        await desk.agree("h")
        await desk.until_notice("disable or delete it")
        assert desk.ledger.open_writes() == ()
        await desk.until(lambda: listing(app).identity() == candidate.identity, "the key")
        await desk.press("x", opens=ConfirmScreen)
        await desk.press("y", says="disabled")
        assert listing(app).table.selected_identity == candidate.identity
        (key,) = [key for key in await desk.keys() if key.name == "ci deploy"]
        assert key.disabled
        assert key.hash == candidate.identity
        outcomes = [entry.outcome for entry in desk.ledger.audit()]
        assert outcomes == ["applied", "resolved", "unknown"]
        resolution = next(entry for entry in desk.ledger.audit() if entry.outcome == "resolved")
        assert resolution.identity == candidate.identity
        assert (resolution.message or "").startswith("applied")


async def test_unresolved_changes_of_an_earlier_run_are_offered_until_resolved(
    desk: RecoveryHarness,
) -> None:
    await desk.lost_before(RESET_BEFORE, desk.creation("never"), desk.creation("neither"))
    async with dashboard(desk, size=(80, 24), loaded=False) as (app, _):
        await desk.wait_for(AskScreen)
        assert "2 unresolved changes" in screen_text(app)
        assert "neither" in screen_text(app)
        await desk.press("right", "enter")
        await desk.until(lambda: has_data(app), "the list")
        assert listing(app).table.model.total == 2
        await desk.press("2")
        await desk.until(lambda: has_data(app) and app.screen is listing(app), "the keys")
        screen = listing(app)
        screen.refresh_frame()
        assert "2 unresolved changes" in line(screen, "banner")
        await app.open_route("recovery")
        for remaining in (1, 0):
            await desk.until(lambda: has_data(app), "the list")
            await desk.press("enter")
            inspected = await desk.evidence()
            assert inspected.evidence is not None
            assert inspected.evidence.candidates == ()
            await desk.reads("0 keys created")
            await desk.agree("X")
            await desk.until(lambda n=remaining: len(desk.ledger.open_writes()) == n, "the end")
            await desk.until(lambda past=inspected: app.navigation.screen is not past, "the list")
        await desk.reads("No unresolved changes")
        await desk.press("2")
        await desk.until(lambda: app.screen is screen, "the keys")
        screen.refresh_frame()
        assert line(screen, "banner") == ""
        messages = {entry.message for entry in desk.ledger.audit() if entry.outcome == "resolved"}
        assert messages == {"not applied"}


async def test_unresolved_changes_can_be_resolved_read_only(desk: RecoveryHarness) -> None:
    await desk.lost_before(RESET_AFTER, desk.creation("first"), desk.creation("second"))
    first_write, second_write = desk.ledger.open_writes()
    async with dashboard(
        desk, start=f"recovery/{first_write.id}", read_only=True, loaded=False
    ) as (
        app,
        _,
    ):
        screen = await desk.evidence()
        assert screen.evidence is not None
        candidates = {candidate.name: candidate for candidate in screen.evidence.candidates}
        assert {"“first”", "“second”"} <= set(candidates), "both keys were created near that time"
        screen.table.select(candidates["“first”"].identity)
        await desk.press("y", opens=Picker)
        assert "Copy · “" in screen_text(app), "y copies here; it confirms only in a question"
        await desk.press("escape")
        await desk.until(lambda: app.screen is screen, "the evidence again")
        await desk.agree("h")
        await desk.until_notice("disable or delete it")
        await app.open_route(f"recovery/{second_write.id}")
        screen = await desk.evidence()
        await desk.until(lambda: screen.states[0].fetched_at is not None, "the evidence")
        assert screen.evidence is not None
        names = {candidate.name for candidate in screen.evidence.candidates}
        assert "“second”" in names
        assert "“first”" not in names, "the other change created it"
        desk.ledger.resolve(second_write, desk.clock.now(), "elsewhere")
        await desk.agree("X")
        await desk.until_notice("resolved elsewhere")
        await desk.reads("This change is resolved")
        entries = [entry for entry in desk.ledger.entries() if entry.id == second_write.id]
        assert [entry.outcome for entry in entries] == ["resolved", "unknown", "intent"]


async def test_a_full_disk_leaves_a_change_unresolved(
    desk: RecoveryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.lost_before(RESET_BEFORE, desk.creation("ci"))
    (write,) = desk.ledger.open_writes()

    def full(*_args: Any) -> None:
        raise OSError(28, "No space left on device")

    async with dashboard(desk, start=f"recovery/{write.id}", size=(80, 24), loaded=False):
        await desk.evidence()
        monkeypatch.setattr("gwtui.local.private_file.write_all", full)
        await desk.agree("h")
        await desk.until_notice("No space left")
        assert len(desk.ledger.open_writes()) == 1


async def unacknowledged_key(desk: RecoveryHarness, name: str) -> str:
    """Create a key whose value nobody confirmed as stored; return its hash."""
    async with desk.colleague() as client:
        executor = WriteExecutor(client, desk.ledger, desk.clock)
        outcome = await executor.execute(Confirmation(desk.creation(name), "form"))
    assert isinstance(outcome, Applied)
    content = desk.ledger.path.read_text()
    began = this_process()["began"]
    desk.ledger.path.write_text(content.replace(str(began), "another life"))
    identity: str = outcome.value.data.hash
    return identity


async def test_an_unstored_key_is_offered_and_replaced(desk: RecoveryHarness) -> None:
    old_hash = await unacknowledged_key(desk, "ci")
    async with dashboard(desk, size=(80, 24), loaded=False) as (app, _):
        await desk.wait_for(AskScreen)
        assert "Nobody has confirmed that the value of a new key is stored" in desk.text
        await desk.press("y")
        await desk.evidence()
        assert "the gateway cannot show its value again" in desk.text.lower()
        await desk.press("X", says="the key was created")
        await desk.press("n", opens=ConfirmScreen)
        assert "Replace key “ci” with a new one" in desk.text
        app.screen.query_one("#deliberate", Button).press()
        await desk.wait_for(SecretScreen)
        assert [write.outcome for write in desk.ledger.open_writes()] == ["applied"]
        await desk.press("tab", "tab", "tab", "space", "escape")
        await desk.until(lambda: desk.ledger.open_writes() == (), "the acknowledgement")
        await desk.reads("This change is resolved")
    (successor,) = [key for key in await desk.keys() if key.name == "ci"]
    assert successor.hash != old_hash


async def test_a_stored_key_is_acknowledged(desk: RecoveryHarness) -> None:
    key_hash = await unacknowledged_key(desk, "ci")
    (write,) = desk.ledger.open_writes()
    async with dashboard(desk, start=f"recovery/{write.id}", loaded=False) as (app, _):
        await desk.evidence()
        await desk.press("h", opens=AskScreen)
        assert "Is its value stored?" in screen_text(app)
        await desk.press("y")
        await desk.until(lambda: desk.ledger.open_writes() == (), "the acknowledgement")
    assert next(desk.ledger.entries()).outcome == "acknowledged"
    assert [entry.outcome for entry in desk.ledger.audit()] == ["applied"], "no other change"
    assert key_hash in {key.hash for key in await desk.keys()}


async def test_a_key_still_shown_by_another_program_is_not_offered(desk: RecoveryHarness) -> None:
    async with desk.colleague() as client:
        executor = WriteExecutor(client, desk.ledger, desk.clock)
        await executor.execute(Confirmation(desk.creation("ci"), "form"))
    assert len(desk.ledger.open_writes()) == 1
    async with dashboard(desk, start="recovery", loaded=False):
        await desk.reads("No unresolved changes")
