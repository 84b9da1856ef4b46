"""The organization: its people and its settings."""

from __future__ import annotations

from gateway_kit import Bench, bench

from gwtui.embedded.store import account

PEOPLE = "/organization/members"
SETTINGS = "/organization/settings"
FILTERED = "is_filtered_model_catalog_enabled"


async def test_the_owner_and_the_makers_of_keys_are_people():
    async with bench() as gate:
        people = {one["id"] for one in await gate.data("GET", PEOPLE)}
        assert (await gate.data("GET", "/key"))["creator_user_id"] in people
        for workspace in await gate.data("GET", "/workspaces"):
            assert workspace["created_by"] is None or workspace["created_by"] in people


async def test_settings_are_read_and_changed(gate: Bench):
    before = await gate.data("GET", SETTINGS)
    assert before[FILTERED] is False
    assert before["id"] == (await gate.data("GET", "/key"))["organization_id"]
    for wanted in (True, True, False):
        body = {FILTERED: wanted, "id": "org_other", "unheard_of": {}}
        changed = await gate.data("PATCH", SETTINGS, json=body)
        assert changed == {"id": before["id"], FILTERED: wanted}
        assert await gate.data("GET", SETTINGS) == changed


async def test_an_account_without_an_organization_is_404(gate: Bench):
    """Such accounts exist at other gateways; this one founds none."""
    with gate.gateway._database.write() as db:
        account.change(db, organization_id=None)
    for method, path, body in (
        ("GET", PEOPLE, None),
        ("GET", SETTINGS, None),
        ("PATCH", SETTINGS, {FILTERED: True}),
    ):
        await gate.refused(404, method, path, json=body)
