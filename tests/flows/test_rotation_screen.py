"""Rotating a key and fixing a finding in the dashboard: plans, the value, the next step."""

from __future__ import annotations

from gwtui.client.gateway import GatewayClient
from gwtui.contract.guardrails import AssignKeysRequest
from gwtui.ui.forms.confirm import ConfirmScreen
from gwtui.ui.forms.form_screen import FormScreen
from gwtui.ui.forms.row import FieldRow
from gwtui.ui.forms.secret import SecretScreen
from gwtui.ui.screens.dialogs import AskScreen
from gwtui.ui.screens.list_parts import DetailPane
from gwtui.watch.feeds.keys import fetch_keys
from harness import dashboard, harness, listing, notices, until
from screen_text import screen_text


async def test_a_key_is_rotated_and_its_rotation_listed() -> None:
    async with harness() as place:
        async with place.connect() as connection, GatewayClient(connection) as client:
            rows = await fetch_keys(client, None)
            (key,) = [row.key for row in rows if row.key.name == "airflow-staging"]
            guardrail = (await client.guardrails.list(workspace_id=key.workspace_id)).items[0]
            request = AssignKeysRequest(key_hashes=[key.hash or ""])
            await client.guardrails.assign_keys(guardrail.id or "", request)
        async with dashboard(place, size=(120, 40)) as (app, pilot):
            await pilot.press("slash", *"airflow-staging", "enter")
            await until(pilot, lambda: listing(app).table.visible_count == 1, "the key")
            await place.press("N", opens=FormScreen)
            await place.press("ctrl+s", opens=ConfirmScreen)
            text = " ".join(screen_text(app).split())
            assert "Not copied: its value" in text
            assert "Guardrail" in text
            await place.press("y", opens=SecretScreen)
            async with place.connect() as connection, GatewayClient(connection) as client:
                assignments = (await client.guardrails.key_assignments(guardrail.id)).items
                # The successor gets the guardrail before its value is shown.
                assert "airflow-staging 2026" in str([item.key_name for item in assignments])
            await pilot.press("escape", "space", "tab", "enter")
            await until(pilot, lambda: "has a successor" in str(notices(app)), "what follows")

            await pilot.press("colon", *"rotations", "enter")
            await until(pilot, lambda: listing(app).resource == "rotations", "the rotations")
            await until(pilot, lambda: listing(app).table.visible_count == 1, "the one")
            assert "in use" in screen_text(app)
            assert listing(app).declared.name(listing(app).table.selected) == "airflow-staging"
            pane = listing(app).query_one(DetailPane)
            await until(pilot, lambda: pane.text.count("BYOK usage") == 2, "both keys")
            await pilot.press("N")
            await until(pilot, lambda: "may be in use" in str(notices(app)), "why it waits")
            await place.press("D", opens=AskScreen)
            await pilot.press("tab", "enter")
            await until(pilot, lambda: "forgotten" in screen_text(app), "the end of it")


async def test_a_finding_leads_to_the_form_that_fixes_it() -> None:
    async with harness() as place, dashboard(place, size=(80, 24)) as (app, pilot):
        await pilot.press("F", "slash", *"rule:no-limit", "enter")
        await until(pilot, lambda: listing(app).resource == "findings", "the findings")
        await until(pilot, lambda: listing(app).table.visible_count > 0, "those")
        await place.press("f", opens=FormScreen)
        (row,) = app.screen.query("FieldRow:focus-within").results(FieldRow)
        assert row.field.name == "limit"
        await pilot.press("escape", "o")
        await until(pilot, lambda: listing(app).resource == "keys", "the key itself")
