"""The policy for a key's request: limits, guardrails, credentials and credits.

Inference contract section 5, statuses 402, 403 and 429. The order of the checks is not documented:
here a negative balance comes first, then budgets; payment is checked for each attempted endpoint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from gwtui.contract.byok import ByokCredential
from gwtui.contract.values import REGIONS
from gwtui.domain.money import usd
from gwtui.domain.pricing import ByokUse, max_output_tokens, max_request_cost
from gwtui.domain.routing import RouteAttempt, is_free, usable_credentials
from gwtui.embedded.inference.parsed_request import ParsedRequest
from gwtui.embedded.messages import Refusal, unauthenticated
from gwtui.embedded.operations import OperationRequest
from gwtui.embedded.store import account, byok, generations, keys
from gwtui.embedded.store.account import from_pico
from gwtui.embedded.store.byok import SecretBox, UnreadableSecretError
from gwtui.embedded.store.documents import WORKSPACES, Document
from gwtui.embedded.store.keys import Binding, Cap, applied_budgets, binding_of

_BROADEST = (None, "monthly", "weekly", "daily")
_REGION = "global"
"""The region of this gateway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPolicy:
    """A key and everything that restricts its requests. Amounts are in USD."""

    record: keys.KeyRecord
    workspace: Document
    binding: Binding
    credentials: tuple[ByokCredential, ...]
    encrypted_keys: Mapping[str, bytes]
    """Encrypted provider keys by credential id."""
    balance: Decimal
    byok_this_month: Decimal
    """Total list price of the account's requests on own provider keys."""
    free: generations.FreeUse

    def check_payment(self, attempt: RouteAttempt, parsed: ParsedRequest, now: datetime) -> None:
        """Raise a 402 if this attempt cannot be paid, or a 429 above the free request limit."""
        if attempt.credential is None and is_free(attempt.model):
            self._check_free(now)
        elif attempt.credential is None and self.balance <= 0:
            raise _no_credits()
        rest = self._rest(attempt)
        endpoint, prompt = attempt.endpoint, parsed.prompt_tokens
        if rest is None or endpoint.pricing is None:
            return
        room = endpoint.context_length and max(endpoint.context_length - prompt, 0)
        bounds = (max_output_tokens(parsed.max_tokens, endpoint), room)
        longest = min((each for each in bounds if each is not None), default=0)
        byok = self.byok_use(attempt)
        most = max_request_cost(endpoint.pricing, prompt, longest, now, byok=byok)
        high = most.cost if byok is None else most.upstream_cost
        if high is not None and high > rest:
            raise Refusal(
                402,
                "This request requires more credits, or fewer max_tokens. You requested up to "
                f"{longest} tokens, which cost more than what is left. Add credits or raise the "
                "limit of the key.",
                metadata={"error_type": "payment_required", "provider_name": None},
            )

    def check_credential(self, attempt: RouteAttempt, secrets: SecretBox) -> None:
        """Raise a 502 if the provider key of this attempt cannot be decrypted."""
        credential = attempt.credential
        encrypted = self.encrypted_keys.get(credential.id or "") if credential else None
        try:
            if encrypted is not None:
                secrets.decrypt(encrypted)
        except UnreadableSecretError:
            raise Refusal(
                502,
                "The provider key of this credential cannot be decrypted: store it again.",
                metadata={"error_type": "provider_unavailable"},
            ) from None

    def _check_free(self, now: datetime) -> None:
        free = self.free
        if free.today >= free.limit:
            midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
            message = "Rate limit exceeded: free-models-per-day. Add credits to raise the limit."
            raise _too_many(message, "daily", free.limit, midnight + timedelta(days=1), now)
        if free.last_minute >= generations.FREE_PER_MINUTE:
            message = "Rate limit exceeded: free-models-per-min."
            reset = now + timedelta(minutes=1)
            raise _too_many(message, "minute", generations.FREE_PER_MINUTE, reset, now)

    def _rest(self, attempt: RouteAttempt) -> Decimal | None:
        limit = self.record.limit_remaining
        if attempt.credential is not None:
            return limit if self.record.key["include_byok_in_limit"] else None
        if is_free(attempt.model):
            return None
        return self.balance if limit is None else min(self.balance, limit)

    def byok_use(self, attempt: RouteAttempt) -> ByokUse | None:
        """Return the pricing of an attempt on an own provider key; None for other attempts."""
        return None if attempt.credential is None else ByokUse(used=self.byok_this_month)


def policy_of(call: OperationRequest) -> KeyPolicy:
    """Return the policy of the caller. Raises a 402 or 403 if it may not spend anything."""
    record = keys.find(call.db, call.known_caller.key_hash, call.now)
    workspace = record and WORKSPACES.get(call.db, record.key["workspace_id"])
    if record is None or workspace is None:
        raise unauthenticated()
    key, owner = record.key, account.get(call.db)
    binding = binding_of(call.db, key)
    balance = owner.total_credits - owner.total_usage
    month = account.first_day("monthly", call.now)
    if balance < 0:
        raise _no_credits()
    _check_region(binding)
    _check_layers(applied_budgets(call.db, key, binding, call.now))
    return KeyPolicy(
        record=record,
        workspace=workspace,
        binding=binding,
        credentials=usable_credentials(
            map(ByokCredential.model_validate, byok.in_order(call.db, workspace["id"])),
            key_hash=key["hash"],
            user_id=key["creator_user_id"],
        ),
        encrypted_keys=byok.encrypted_keys(call.db, workspace["id"]),
        balance=balance,
        byok_this_month=from_pico(account.byok_since(call.db, month)),
        free=generations.free_use(call.db, owner.total_credits, call.now),
    )


def _check_region(binding: Binding) -> None:
    for guardrail in binding.values():
        regions = guardrail["allowed_data_regions"]
        if regions is not None and _REGION not in regions:
            allowed = ", ".join(region for region in REGIONS if region in regions) or "none"
            raise Refusal(
                403,
                f"This key may only be used in these data regions: {allowed}. "
                f"This gateway is in the region {_REGION}.",
                metadata={"error_type": "permission_denied"},
            )


_SPENT: Mapping[str, str] = {
    "key_limit": "Key limit exceeded ({} limit).",
    "member": "Org member budget limit exceeded ({} limit). Contact your org admin.",
    "workspace_default_member": "Org member budget limit exceeded ({} limit). "
    "Contact your org admin.",
}
"""Error messages of the budget scopes with their own wording."""


def _check_layers(layers: Sequence[Cap]) -> None:
    # Of several exhausted workspace budgets, the error names the one with the longest interval.
    exhausted = [layer for layer in layers if layer.remaining <= 0]
    if not exhausted:
        return
    first = exhausted[0]
    if first.scope == "workspace":
        spent = (layer for layer in exhausted if layer.scope == "workspace")
        broadest = min(spent, key=lambda layer: _BROADEST.index(layer.reset_interval))
        limit = f"{broadest.reset_interval or 'lifetime'} budget of {usd(broadest.limit, places=2)}"
        raise Refusal(403, f"Workspace {limit} exceeded. Contact your org admin.")
    words = _SPENT.get(first.scope, "Budget limit exceeded ({} limit). Contact your org admin.")
    raise Refusal(403, words.format(first.reset_interval or "total"))


def _no_credits() -> Refusal:
    return Refusal(
        402,
        "Insufficient credits. Add more credits to go on.",
        metadata={"error_type": "payment_required"},
    )


def _too_many(message: str, what: str, limit: int, reset: datetime, now: datetime) -> Refusal:
    headers = {
        "X-RateLimit-Limit": str(limit),
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": str(round(reset.timestamp() * 1000)),
    }
    wait = max(1, round((reset - now).total_seconds()))
    return Refusal(
        429,
        message,
        metadata={
            "error_type": "rate_limit_exceeded",
            "headers": dict(headers),
            "limit_source": f"free_tier_{what}",
            "remedy_hint": "Wait for the reset, use a paid model or an own provider key.",
        },
        headers={**headers, "Retry-After": str(wait)},
    )
