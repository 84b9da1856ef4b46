"""The management API as services: each operation is declared once, by method, path and models.

All methods raise GatewayError. A write is sent exactly once. Models are loaded with the first
request that needs them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, get_type_hints

from gwtui.client.answers import (
    Rows,
    confirm_deleted,
    read_count,
    read_one,
    read_rows,
    read_whole,
    run_by_size,
    unreadable,
)
from gwtui.client.call import Answer, Call, Caller, Method, query_params, validated
from gwtui.client.errors import InvalidRequestError, NotFoundError
from gwtui.client.paging import Listing, Pager, listing_of
from gwtui.contract.dialects import Dialect
from gwtui.contract.request import Problem
from gwtui.contract.values import KEYS_PAGE, MAX_PAGE, MODELS_PAGE
from gwtui.domain.known_secrets import remember

if TYPE_CHECKING:
    from gwtui.contract.byok import ByokCredential, CreateByokRequest, UpdateByokRequest
    from gwtui.contract.guardrails import (
        AssignKeysRequest,
        AssignMembersRequest,
        CreateGuardrailRequest,
        Guardrail,
        KeyAssignment,
        MemberAssignment,
        UpdateGuardrailRequest,
    )
    from gwtui.contract.keys import (
        ApiKey,
        CreatedKey,
        CreateKeyRequest,
        CurrentKey,
        UpdateKeyRequest,
    )
    from gwtui.contract.models import Endpoint, Model, ModelCount, ModelEndpoints, Provider
    from gwtui.contract.organization import (
        ChangeMembersRequest,
        MembersAdded,
        MembersRemoved,
        OrganizationMember,
        OrganizationSettings,
        UpdateOrganizationSettingsRequest,
        WorkspaceMember,
    )
    from gwtui.contract.usage import (
        ActivityRow,
        Credits,
        FeedbackRequest,
        Generation,
        GenerationContent,
    )
    from gwtui.contract.workspaces import (
        Budget,
        CreateWorkspaceRequest,
        PutBudgetRequest,
        UpdateWorkspaceRequest,
        Workspace,
    )

P = ParamSpec("P")
T = TypeVar("T")

LARGE_ANSWER = 96 * 1024
"""Bytes of a response above which its models are built in a thread."""
_SEGMENT = re.compile(r"\{(\w+)\}")


def _model(name: str) -> Any:
    """Load a model of the contract, given as "module:NAME"."""
    module, _, model = name.partition(":")
    return getattr(import_module(f"gwtui.contract.{module}"), model)


class Service:
    """The operations on one kind of resource."""

    def __init__(self, caller: Caller, dialect: Dialect) -> None:
        self.caller = caller
        self.dialect = dialect


class ServiceMethod(Generic[P, T]):
    """One operation of the API, used as a method of its service.

    The method takes the identifiers of the path ``template``, in order, then the value of the query
    parameter ``query`` and an instance of the request class ``body``, if the operation has them.
    ``segments`` maps the arguments to path identifiers if these differ. ``check`` names a function
    (body, dialect) -> problems; a body with problems raises InvalidRequestError. ``read`` converts
    the response.
    """

    def __init__(  # noqa: PLR0913 - all by name
        self,
        method: Method,
        template: str,
        read: Callable[[Answer], Any],
        *,
        body: str = "",
        query: str = "",
        segments: Callable[..., dict[str, str]] | None = None,
        check: str = "",
    ) -> None:
        self._method: Method = method
        self._template = template
        self._read = read
        self._body = body
        self._query = query
        self._segments = segments or self._by_place
        self._check = check

    def __get__(
        self, service: Service, _owner: type[Service]
    ) -> Callable[P, Coroutine[Any, Any, T]]:
        async def send(*arguments: P.args, **query: P.kwargs) -> T:
            return await self.carry_out(service, self.call(*arguments, **query))

        return send

    def _by_place(self, *identifiers: str) -> dict[str, str]:
        return dict(zip(_SEGMENT.findall(self._template), identifiers, strict=False))

    def call(self, *arguments: Any, **query: Any) -> Call:
        """Build the request without sending it. Raises InvalidRequestError for an invalid body."""
        identifiers, body = arguments, None
        if self._body:
            *identifiers, request = arguments  # type: ignore[assignment]
            body = validated(request, _model(self._body))
        if self._query:
            query[self._query] = identifiers[-1]
        segments = self._segments(*identifiers)
        return Call(self._method, self._template, segments, query_params(**query), body)

    async def carry_out(self, service: Service, call: Call) -> T:
        """Send a request and read its response."""
        if self._check and (problems := _model(self._check)(call.body, service.dialect)):
            raise InvalidRequestError(problems)
        answer = await service.caller.call(call)
        result: T = await run_by_size(partial(self._read, answer), answer.size, LARGE_ANSWER)
        return result


class PagedList(ServiceMethod[P, Listing[T]]):
    """A list operation that reads all pages. Keyword arguments become query parameters."""

    def __init__(
        self,
        template: str,
        model: str,
        key: str = "id",
        *,
        page: int = MAX_PAGE,
        sends_limit: bool = True,
    ) -> None:
        super().__init__("GET", template, read_rows)
        self._model = model
        self._key = key
        self._page = page
        self._sends_limit = sends_limit

    async def carry_out(self, service: Service, call: Call) -> Listing[T]:
        """Read every page."""
        pager: Pager[Any] = Pager(
            service.caller,
            call,
            _model(self._model),
            self._key,
            page=self._page,
            sends_limit=self._sends_limit,
        )
        return await pager.read_all()


def request_of(name: str, *arguments: str) -> Call:
    """Build the request of an operation given as "service.operation", such as "keys.get".

    Raises InvalidRequestError for identifiers that are invalid in a path.
    """
    service, _, operation = name.partition(".")
    method: ServiceMethod[Any, Any] = vars(SERVICES[service])[operation]
    return method.call(*arguments)


def _one(model: str) -> Callable[[Answer], Any]:
    return lambda answer: read_one(answer, _model(model))


def _rows(model: str, key: str = "") -> Callable[[Answer], Listing[Any]]:
    return lambda answer: listing_of(read_rows(answer), _model(model), key)


def _added(answer: Answer) -> MembersAdded:
    added: MembersAdded = read_whole(answer, _model("organization:MembersAdded"))
    if added.added_count is None and added.data is None:
        raise unreadable(answer, "it does not say which members were added")
    return added


def _removed(answer: Answer) -> MembersRemoved:
    read_count(answer, "removed_count")
    removed: MembersRemoved = read_whole(answer, _model("organization:MembersRemoved"))
    return removed


def _created_key(answer: Answer) -> CreatedKey:
    created: CreatedKey = read_whole(answer, _model("keys:CreatedKey"))
    remember(created.key)
    if created.data is None and created.key is None:
        raise unreadable(answer, "it holds neither the new key nor its description")
    return created


def _author_and_slug(model_id: str) -> dict[str, str]:
    author, slash, slug = model_id.partition("/")
    if not slash:
        raise InvalidRequestError([Problem("model_id", "must have the form author/slug")])
    return {"author": author, "slug": slug}


def _budget_path(id_or_slug: str, interval: str) -> dict[str, str]:
    intervals = _model("workspaces:BUDGET_INTERVALS")
    if interval not in intervals:
        raise InvalidRequestError([Problem("interval", f"must be one of {', '.join(intervals)}")])
    return {"id": id_or_slug, "interval": interval}


class KeysService(Service):
    """API keys.

    See "API key" and "POST /keys" in the contract and section 1 of the extended contract.
    """

    get: ServiceMethod[[str], ApiKey] = ServiceMethod("GET", "/keys/{hash}", _one("keys:ApiKey"))
    current: ServiceMethod[[], CurrentKey] = ServiceMethod("GET", "/key", _one("keys:CurrentKey"))
    """Read the rights and limits of the connection's own key. Works with any key."""
    create: ServiceMethod[[CreateKeyRequest], CreatedKey] = ServiceMethod(
        "POST", "/keys", _created_key, body="keys:CreateKeyRequest"
    )
    """Create a key. The full key is only in this response."""
    update: ServiceMethod[[str, UpdateKeyRequest], ApiKey] = ServiceMethod(
        "PATCH", "/keys/{hash}", _one("keys:ApiKey"), body="keys:UpdateKeyRequest"
    )
    delete: ServiceMethod[[str], None] = ServiceMethod("DELETE", "/keys/{hash}", confirm_deleted)
    _list: PagedList[..., ApiKey] = PagedList(
        "/keys", "keys:ApiKey", "hash", page=KEYS_PAGE, sends_limit=False
    )
    _first_page: ServiceMethod[..., Listing[ApiKey]] = ServiceMethod(
        "GET", "/keys", _rows("keys:ApiKey", "hash")
    )

    async def list(
        self,
        *,
        workspace_id: str | None = None,
        include_disabled: bool = True,
        include_expired: bool = True,
    ) -> Listing[ApiKey]:
        """List all keys of a workspace, newest first; None is the default workspace."""
        return await self._list(
            include_disabled=include_disabled,
            include_expired=include_expired,
            workspace_id=workspace_id,
        )

    async def default_workspace(self) -> str | None:
        """The id of the default workspace, taken from the first page of its keys.

        No operation returns the id itself. None if no key on that page has a workspace id.
        """
        page = await self._first_page(include_disabled=True, include_expired=True, offset=0)
        return next((key.workspace_id for key in page.items if key.workspace_id), None)


class WorkspacesService(Service):
    """Workspaces, by UUID or slug.

    See "Workspace" in the contract and sections 2 and 3 of the extended contract.
    """

    list: PagedList[[], Workspace] = PagedList("/workspaces", "workspaces:Workspace")
    get: ServiceMethod[[str], Workspace] = ServiceMethod(
        "GET", "/workspaces/{id}", _one("workspaces:Workspace")
    )
    create: ServiceMethod[[CreateWorkspaceRequest], Workspace] = ServiceMethod(
        "POST",
        "/workspaces",
        _one("workspaces:Workspace"),
        body="workspaces:CreateWorkspaceRequest",
    )
    update: ServiceMethod[[str, UpdateWorkspaceRequest], Workspace] = ServiceMethod(
        "PATCH",
        "/workspaces/{id}",
        _one("workspaces:Workspace"),
        body="workspaces:UpdateWorkspaceRequest",
    )
    _delete: ServiceMethod[..., None] = ServiceMethod("DELETE", "/workspaces/{id}", confirm_deleted)
    members: PagedList[[str], WorkspaceMember] = PagedList(
        "/workspaces/{id}/members", "organization:WorkspaceMember", "user_id"
    )
    """List all members; for the default workspace, the whole organization."""
    add_members: ServiceMethod[[str, ChangeMembersRequest], MembersAdded] = ServiceMethod(
        "POST",
        "/workspaces/{id}/members/add",
        _added,
        body="organization:ChangeMembersRequest",
    )
    """Add members. Existing members count as added."""
    remove_members: ServiceMethod[[str, ChangeMembersRequest], MembersRemoved] = ServiceMethod(
        "POST",
        "/workspaces/{id}/members/remove",
        _removed,
        body="organization:ChangeMembersRequest",
    )
    """Remove members. Refused for members with active keys in the workspace."""
    _budgets: ServiceMethod[[str], Listing[Budget]] = ServiceMethod(
        "GET", "/workspaces/{id}/budgets", _rows("workspaces:Budget", "id")
    )
    budget: ServiceMethod[[str, str], Budget] = ServiceMethod(
        "GET",
        "/workspaces/{id}/budgets/{interval}",
        _one("workspaces:Budget"),
        segments=_budget_path,
    )
    put_budget: ServiceMethod[[str, str, PutBudgetRequest], Budget] = ServiceMethod(
        "PUT",
        "/workspaces/{id}/budgets/{interval}",
        _one("workspaces:Budget"),
        body="workspaces:PutBudgetRequest",
        segments=_budget_path,
    )
    """Create or replace the budget of an interval."""
    delete_budget: ServiceMethod[[str, str], None] = ServiceMethod(
        "DELETE", "/workspaces/{id}/budgets/{interval}", confirm_deleted, segments=_budget_path
    )
    """Delete the budget of an interval; succeeds if there is none."""

    async def delete(self, id_or_slug: str, *, confirm_default: bool = False) -> None:
        """Delete a workspace with its budgets and guardrails.

        The gateway refuses it while the workspace has active keys, and for the default workspace
        unless ``confirm_default`` is set.
        """
        confirmed = {"confirm_default_workspace_deletion": True} if confirm_default else {}
        await self._delete(id_or_slug, **confirmed)

    async def budgets(self, id_or_slug: str) -> Listing[Budget]:
        """The budgets of a workspace, at most one per interval. Not paged.

        A gateway may answer 404 for an existing workspace without budgets; the result is empty
        then.
        """
        try:
            return await self._budgets(id_or_slug)
        except NotFoundError:
            await self.get(id_or_slug)
            return listing_of(Rows([], None), _model("workspaces:Budget"), "id")


class GuardrailsService(Service):
    """Guardrails and their assignments.

    See "Guardrail" in the contract and section 5 of the extended contract.

    A guardrail that the dialect cannot express raises InvalidRequestError and is not sent.
    """

    get: ServiceMethod[[str], Guardrail] = ServiceMethod(
        "GET", "/guardrails/{id}", _one("guardrails:Guardrail")
    )
    """Read a guardrail. A workspace default does not exist until its first update."""
    delete: ServiceMethod[[str], None] = ServiceMethod(
        "DELETE", "/guardrails/{id}", confirm_deleted
    )
    list: PagedList[..., Guardrail] = PagedList("/guardrails", "guardrails:Guardrail")
    """List all guardrails of ``workspace_id``, by default of the default workspace."""
    create: ServiceMethod[[CreateGuardrailRequest], Guardrail] = ServiceMethod(
        "POST",
        "/guardrails",
        _one("guardrails:Guardrail"),
        body="guardrails:CreateGuardrailRequest",
        check="guardrails:never_sent",
    )
    """Create a guardrail. It enforces nothing until it is assigned."""
    update: ServiceMethod[[str, UpdateGuardrailRequest], Guardrail] = ServiceMethod(
        "PATCH",
        "/guardrails/{id}",
        _one("guardrails:Guardrail"),
        body="guardrails:UpdateGuardrailRequest",
        check="guardrails:never_sent",
    )
    """Change the given fields; the first update of a default guardrail creates it."""
    keys_of_one: PagedList[[str], KeyAssignment] = PagedList(
        "/guardrails/{id}/assignments/keys", "guardrails:KeyAssignment"
    )
    keys_of_all: PagedList[[], KeyAssignment] = PagedList(
        "/guardrails/assignments/keys", "guardrails:KeyAssignment"
    )
    members_of_one: PagedList[[str], MemberAssignment] = PagedList(
        "/guardrails/{id}/assignments/members", "guardrails:MemberAssignment"
    )
    members_of_all: PagedList[[], MemberAssignment] = PagedList(
        "/guardrails/assignments/members", "guardrails:MemberAssignment"
    )
    assign_keys: ServiceMethod[[str, AssignKeysRequest], int] = ServiceMethod(
        "POST",
        "/guardrails/{id}/assignments/keys",
        partial(read_count, name="assigned_count"),
        body="guardrails:AssignKeysRequest",
    )
    """Assign a guardrail to keys, replacing their present one; returns the number assigned."""
    unassign_keys: ServiceMethod[[str, AssignKeysRequest], int] = ServiceMethod(
        "POST",
        "/guardrails/{id}/assignments/keys/remove",
        partial(read_count, name="unassigned_count"),
        body="guardrails:AssignKeysRequest",
    )
    """Remove a guardrail from keys; returns the number of keys that had it."""
    assign_members: ServiceMethod[[str, AssignMembersRequest], int] = ServiceMethod(
        "POST",
        "/guardrails/{id}/assignments/members",
        partial(read_count, name="assigned_count"),
        body="guardrails:AssignMembersRequest",
    )
    """Assign a guardrail to members; returns the number assigned."""
    unassign_members: ServiceMethod[[str, AssignMembersRequest], int] = ServiceMethod(
        "POST",
        "/guardrails/{id}/assignments/members/remove",
        partial(read_count, name="unassigned_count"),
        body="guardrails:AssignMembersRequest",
    )
    """Remove a guardrail from members; returns the number that had it."""

    async def key_assignments(self, id: str | None) -> Listing[KeyAssignment]:
        """List the assignments of a guardrail to keys; None lists all guardrails."""
        return await (self.keys_of_all() if id is None else self.keys_of_one(id))

    async def member_assignments(self, id: str | None) -> Listing[MemberAssignment]:
        """List the assignments of a guardrail to members; None lists all guardrails."""
        return await (self.members_of_all() if id is None else self.members_of_one(id))


class ByokService(Service):
    """BYOK provider credentials.

    See "BYOK provider credential" in the contract and section 6 of the extended contract.

    Responses never contain the provider key.
    """

    get: ServiceMethod[[str], ByokCredential] = ServiceMethod(
        "GET", "/byok/{id}", _one("byok:ByokCredential")
    )
    create: ServiceMethod[[CreateByokRequest], ByokCredential] = ServiceMethod(
        "POST", "/byok", _one("byok:ByokCredential"), body="byok:CreateByokRequest"
    )
    update: ServiceMethod[[str, UpdateByokRequest], ByokCredential] = ServiceMethod(
        "PATCH", "/byok/{id}", _one("byok:ByokCredential"), body="byok:UpdateByokRequest"
    )
    """Update a credential. A new ``key`` replaces the old one."""
    delete: ServiceMethod[[str], None] = ServiceMethod("DELETE", "/byok/{id}", confirm_deleted)
    list: PagedList[..., ByokCredential] = PagedList("/byok", "byok:ByokCredential")
    """List all credentials of ``workspace_id``, by default of the default workspace."""


class CatalogService(Service):
    """Models and their endpoints. See section 7 of the extended contract.

    A model id is "author/slug", optionally with a variant such as ``:free``.
    """

    model: ServiceMethod[[str], Model] = ServiceMethod(
        "GET", "/model/{author}/{slug}", _one("models:Model"), segments=_author_and_slug
    )
    endpoints: ServiceMethod[[str], ModelEndpoints] = ServiceMethod(
        "GET",
        "/models/{author}/{slug}/endpoints",
        _one("models:ModelEndpoints"),
        segments=_author_and_slug,
    )
    """Read a model with all its endpoints."""
    zdr_endpoints: ServiceMethod[[], Listing[Endpoint]] = ServiceMethod(
        "GET", "/endpoints/zdr", _rows("models:Endpoint")
    )
    """List the endpoints with zero data retention. Not paged."""
    _models: PagedList[..., Model] = PagedList("/models", "models:Model", page=MODELS_PAGE)
    _user_models: PagedList[..., Model] = PagedList(
        "/models/user", "models:Model", page=MODELS_PAGE
    )
    _count: ServiceMethod[..., ModelCount] = ServiceMethod(
        "GET", "/models/count", _one("models:ModelCount")
    )

    async def models(
        self, *, output_modalities: str = "all", query: str | None = None
    ) -> Listing[Model]:
        """List models with one of the ``output_modalities`` (comma-separated, or "all").

        ``query`` is searched in names, ids and descriptions.
        """
        return await self._models(output_modalities=output_modalities, q=query or None)

    async def user_models(self) -> Listing[Model]:
        """List the models that the connection's own key may use. Works with any key."""
        return await self._user_models(output_modalities="all")

    async def count(self) -> int:
        """Read the number of models, without reading the list."""
        count = (await self._count(output_modalities="all")).count
        if count is None:
            raise unreadable(None, "it has no count")
        return count


class ProvidersService(Service):
    """The companies that serve endpoints."""

    list: ServiceMethod[[], Listing[Provider]] = ServiceMethod(
        "GET", "/providers", _rows("models:Provider", "slug")
    )


class OrganizationService(Service):
    """Members and settings of the organization. See section 4 of the extended contract.

    NotFoundError means that the key does not belong to an organization.
    """

    members: PagedList[[], OrganizationMember] = PagedList(
        "/organization/members", "organization:OrganizationMember"
    )
    settings: ServiceMethod[[], OrganizationSettings] = ServiceMethod(
        "GET", "/organization/settings", _one("organization:OrganizationSettings")
    )
    update_settings: ServiceMethod[[UpdateOrganizationSettingsRequest], OrganizationSettings] = (
        ServiceMethod(
            "PATCH",
            "/organization/settings",
            _one("organization:OrganizationSettings"),
            body="organization:UpdateOrganizationSettingsRequest",
        )
    )


class CreditsService(Service):
    """Purchased and used credits, in USD. See "Credits" in the contract."""

    get: ServiceMethod[[], Credits] = ServiceMethod("GET", "/credits", _one("usage:Credits"))


class ActivityService(Service):
    """Daily activity by endpoint. See section 8 of the extended contract."""

    _list: ServiceMethod[..., Listing[ActivityRow]] = ServiceMethod(
        "GET", "/activity", _rows("usage:ActivityRow")
    )

    async def list(
        self,
        *,
        date: str | None = None,
        api_key_hash: str | None = None,
        user_id: str | None = None,
        workspace_id: str | None = None,
        by_workspace: bool = False,
    ) -> Listing[ActivityRow]:
        """List the activity of the last 30 completed UTC days, or of one ``date`` (YYYY-MM-DD).

        ``by_workspace`` splits each row by workspace. Not paged.
        """
        return await self._list(
            date=date,
            api_key_hash=api_key_hash,
            user_id=user_id,
            workspace_id=workspace_id,
            group_by="workspace" if by_workspace else None,
        )


class GenerationsService(Service):
    """Single generations. See section 8 of the extended contract."""

    get: ServiceMethod[[str], Generation] = ServiceMethod(
        "GET", "/generation", _one("usage:Generation"), query="id"
    )
    """Read the metadata of a generation. Works with any key."""
    content: ServiceMethod[[str], GenerationContent] = ServiceMethod(
        "GET", "/generation/content", _one("usage:GenerationContent"), query="id"
    )
    """Read input and output. NotFoundError also if the workspace does not log them."""
    give_feedback: ServiceMethod[[FeedbackRequest], None] = ServiceMethod(
        "POST", "/generation/feedback", lambda _answer: None, body="usage:FeedbackRequest"
    )
    """Send feedback. The contract describes no response, so none is read."""


class Services:
    """All services of a gateway."""

    keys: KeysService
    workspaces: WorkspacesService
    credits: CreditsService
    catalog: CatalogService
    providers: ProvidersService
    organization: OrganizationService
    guardrails: GuardrailsService
    byok: ByokService
    activity: ActivityService
    generations: GenerationsService

    def __init__(self, caller: Caller, dialect: Dialect) -> None:
        for name, service in SERVICES.items():
            setattr(self, name, service(caller, dialect))


SERVICES: Mapping[str, type[Service]] = get_type_hints(Services)
"""The service classes by attribute name, such as "keys"."""
