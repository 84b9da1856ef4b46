"""What can be picked in the forms of guardrails: models and providers of the catalog."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gwtui.contract.models import Model
from gwtui.contract.providers import Provider
from gwtui.crud.form import PickOption
from gwtui.domain.safe_text import safe_line
from gwtui.resources.guardrails.effect import LiveEffect, catalog_feed
from gwtui.resources.guardrails.form import GuardrailSources
from gwtui.resources.models.providers import providers_feed
from gwtui.resources.models.resource import models_feed
from gwtui.ui.context import ActionContext
from gwtui.ui.forms.writing import value_now

_TITLE = 60


def sources(context: ActionContext, present: Iterable[str] = ()) -> GuardrailSources:
    """Where the form finds models, providers and the catalog; ``present`` are entries it holds."""
    app = context.app
    present = frozenset(present)
    catalog = catalog_feed(app.hub)

    async def models() -> Sequence[PickOption]:
        return model_options(await value_now(models_feed(app.hub, app.scope)), present)

    async def providers() -> Sequence[PickOption]:
        return provider_options(await value_now(providers_feed(app.hub, app.scope)))

    dialect = app.connection.dialect
    return GuardrailSources(
        dialect, models, providers, LiveEffect(lambda: catalog.state.value, dialect)
    )


def model_options(models: Sequence[Model], present: frozenset[str]) -> list[PickOption]:
    """One option for each model with its variants: the slug that they share.

    The gateway answers with that slug whatever was sent. An entry that names a model by another
    identifier keeps its own option, so that it does not look unknown.
    """
    options: dict[str, PickOption] = {}
    for model in models:
        shared = model.canonical_slug or model.id
        title = safe_line(model.name or model.id or "", _TITLE)
        if shared:
            options.setdefault(shared, PickOption(shared, title, safe_line(model.id or "", _TITLE)))
        if model.id in present and model.id:
            note = f"{safe_line(model.id, _TITLE)}, by its identifier"
            options.setdefault(model.id, PickOption(model.id, title, note))
    return sorted(options.values(), key=lambda option: option.title.casefold())


def provider_options(providers: Sequence[Provider]) -> list[PickOption]:
    """One option for each provider, by its slug."""
    return [
        PickOption(one.slug, safe_line(one.name or one.slug, _TITLE), safe_line(one.slug, _TITLE))
        for one in sorted(providers, key=lambda one: (one.name or "").casefold())
        if one.slug
    ]
