"""Profiles: named gateways in ``profiles.toml``, and which one a start of the program means.

    default = "work"

    [profiles.work]
    base_url = "https://gateway.example/api/v1"
    token_command = ["pass", "gateway/management"]
    critical = true

``profile_text`` reads the file, ``profile_file`` changes it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlsplit

from gwtui.client.connection import Connection, InvalidConnectionError, normalise_base_url
from gwtui.contract.dialects import DIALECTS, DialectName
from gwtui.domain.finding_thresholds import (
    DEFAULT_THRESHOLDS,
    THRESHOLD_NAMES,
    FindingThresholds,
)
from gwtui.domain.safe_text import safe_line
from gwtui.domain.suggestions import among, did_you_mean
from gwtui.local.toml_editor import line_of
from gwtui.local.user_file import UserFileError, not_toml, read_user_text

if TYPE_CHECKING:
    from pydantic import BaseModel

    from gwtui.domain.known_secrets import Secret
    from gwtui.local.profile_tables import CheckThresholds, ProbeSettings

    _Table = TypeVar("_Table", bound=BaseModel)

FILE_NAME = "profiles.toml"

TokenSource = Literal["token command", "token file", "keyring"]
"""What a profile can name; the environment goes before it, a prompt comes after it."""


class ProfileError(Exception):
    """A profile cannot be used; the message names the file, the line, the key and the fault."""


class NoProfileError(ProfileError):
    """No gateway is given, and there is no profile that could be chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One gateway as a person configured it. Holds no token, only where to find one.

    It is read with every start, before anything is shown: ``validated_profile`` makes one of what
    a person wrote, and loads no library for it.
    """

    name: str = ""
    """Empty for a gateway given by address alone."""
    base_url: str
    dialect: DialectName = "generic"
    read_only: bool = False
    critical: bool = False
    """Look different, ask twice."""
    allow_plain_http: bool = False
    use_proxy: bool = False
    token_command: tuple[str, ...] | None = None
    """Program and arguments that print the token; no shell."""
    token_file: Path | None = None
    """File of mode 0600 that holds the token."""
    probe: ProbeSettings | None = None
    """Probes of endpoints; none without it."""
    check: CheckThresholds | None = None
    """When ``gwtui check`` warns; what is usual without it."""
    findings: FindingThresholds = DEFAULT_THRESHOLDS
    """From when on something is a finding."""

    @property
    def label(self) -> str:
        """What the screens call it: the name, else the host."""
        return self.name or self.host

    @property
    def host(self) -> str:
        """Host and port of the gateway."""
        return urlsplit(self.base_url).netloc

    @property
    def token_source(self) -> TokenSource:
        """Where its token is looked for when the environment has none."""
        if self.uses_keyring:
            return "keyring"
        return "token command" if self.token_file is None else "token file"

    @property
    def key_from(self) -> str:
        """The same with its program or file.

        The arguments of a command may say more than others should see over a shoulder.
        """
        detail = self.token_command[0] if self.token_command else self.token_file
        return f"{self.token_source} {detail}" if detail else self.token_source

    @property
    def uses_keyring(self) -> bool:
        """Whether its token is looked for in the keyring."""
        return self.token_command is None and self.token_file is None

    @property
    def _named_by(self) -> tuple[str, ...]:
        """Options of the command line that mean it; an address says nothing of its dialect."""
        if self.name:
            return ("--profile", self.name)
        dialect = () if self.dialect == "generic" else ("--dialect", self.dialect)
        return ("--base-url", self.base_url, *dialect)

    def connection(self, token: Secret | None, token_source: str) -> Connection:
        """The connection that this profile describes. Raises ProfileError when it is unsafe."""
        try:
            return Connection(
                base_url=self.base_url,
                token=token,
                dialect=DIALECTS[self.dialect],
                read_only=self.read_only,
                allow_plain_http=self.allow_plain_http,
                use_proxy=self.use_proxy,
                label=self.label,
                token_source=token_source,
                named_by=self._named_by,
                critical=self.critical,
                findings=self.findings,
            )
        except InvalidConnectionError as error:
            raise ProfileError(f"profile {self.label}: {error}") from None


FIELDS = frozenset(one.name for one in fields(Profile)) - {"name"}
"""Keys that a profile's table may have."""
CHECK = "check"
PROBE = "probe"
FINDINGS = "findings"


class InvalidProfileError(ProfileError):
    """A field has no fit value: ``path`` leads to it, the message never repeats the value."""

    def __init__(self, path: tuple[str, ...], message: str) -> None:
        super().__init__(message)
        self.path = path


def validated_profile(given: Mapping[str, Any]) -> Profile:
    """A profile of these fields, as a person wrote them. Raises InvalidProfileError."""
    found: dict[str, Any] = {}
    for one in fields(Profile):
        if one.name in given:
            found[one.name] = _READERS[one.name](one.name, given[one.name])
        elif one.name == "base_url":
            raise InvalidProfileError(("base_url",), "is required")
    if found.get("token_command") is not None and found.get("token_file") is not None:
        raise InvalidProfileError((), "token_command and token_file exclude each other")
    return Profile(**found)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidProfileError((name,), "must be text")
    return value


def _address(name: str, value: object) -> str:
    try:
        return normalise_base_url(_text(name, value))
    except InvalidConnectionError as error:
        raise InvalidProfileError((name,), str(error)) from None


def _dialect(name: str, value: object) -> str:
    if not isinstance(value, str) or value not in DIALECTS:
        raise InvalidProfileError((name,), f"must be one of {' or '.join(DIALECTS)}")
    return value


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidProfileError((name,), "must be true or false")
    return value


def _program(name: str, value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise InvalidProfileError((name,), "must be a list")
    for place, word in enumerate(value):
        if not isinstance(word, str):
            raise InvalidProfileError((name, str(place)), "must be text")
    if not value:
        raise InvalidProfileError((name,), "must have at least 1 entry")
    return tuple(value)


def _file(name: str, value: object) -> Path | None:
    if value is None or isinstance(value, Path):
        return value
    return Path(_text(name, value))


def _probe(name: str, value: object) -> ProbeSettings | None:
    from gwtui.local.profile_tables import ProbeSettings  # noqa: PLC0415 - loads pydantic

    return None if value is None else _table(ProbeSettings, name, value)


def _check(name: str, value: object) -> CheckThresholds | None:
    from gwtui.local.profile_tables import CheckThresholds  # noqa: PLC0415 - loads pydantic

    return None if value is None else _table(CheckThresholds, name, value)


def _table(model: type[_Table], name: str, value: object) -> _Table:
    from pydantic import ValidationError  # noqa: PLC0415 - loads pydantic

    from gwtui.contract.request import problems  # noqa: PLC0415

    try:
        return model.model_validate(value)
    except ValidationError as error:
        wrong = problems(error)[0]
    inside = wrong.field.split(".") if wrong.field else ()
    raise InvalidProfileError((name, *inside), wrong.message.removeprefix("Value error, "))


def _findings(name: str, value: object) -> FindingThresholds:
    if isinstance(value, FindingThresholds):
        return value
    if not isinstance(value, dict):
        raise InvalidProfileError((name,), "must be a table")
    if unknown := value.keys() - THRESHOLD_NAMES:
        raise InvalidProfileError((name, min(unknown)), "is not a known key")
    try:
        return FindingThresholds(**value)
    except ValueError as error:
        raise InvalidProfileError((name,), str(error)) from None


_READERS: Mapping[str, Callable[[str, Any], object]] = {
    "name": _text,
    "base_url": _address,
    "dialect": _dialect,
    "read_only": _flag,
    "critical": _flag,
    "allow_plain_http": _flag,
    "use_proxy": _flag,
    "token_command": _program,
    "token_file": _file,
    PROBE: _probe,
    CHECK: _check,
    FINDINGS: _findings,
}
"""Field -> what reads its value."""


def _keys_of(table: str) -> frozenset[str]:
    """The keys that a table inside of a profile may have."""
    if table == FINDINGS:
        return THRESHOLD_NAMES
    from gwtui.local.profile_tables import CheckThresholds, ProbeSettings  # noqa: PLC0415 - late

    model = CheckThresholds if table == CHECK else ProbeSettings
    return frozenset(model.model_fields)


@dataclass(frozen=True, slots=True)
class ProfileBook:
    """Every profile of the file, by name; empty when there is no file."""

    profiles: Mapping[str, Profile] = field(default_factory=dict)
    default: str | None = None
    unknown: tuple[str, ...] = ()
    """What was passed over, each with its line; empty unless that was asked for."""


def resolve(
    profile_name: str | None,
    base_url: str | None,
    dialect: str | None,
    read_only: bool,
    environ: Mapping[str, str],
    *,
    book: ProfileBook,
) -> Profile:
    """The gateway that is meant: arguments win over the environment, both over the file.

    An address given beside a profile keeps the profile's rules. Where it leads to another host
    the profile's token is not used: it belongs to the profile's own gateway. A profile named by
    argument is not redirected by GWTUI_BASE_URL. Raises ProfileError.
    """
    address = base_url or (None if profile_name else environ.get("GWTUI_BASE_URL"))
    name = profile_name or environ.get("GWTUI_PROFILE") or (None if address else book.default)
    chosen = _named_profile(book, name) if name else None
    if address:
        chosen = _at_address(chosen, address)
    if dialect is not None and dialect not in DIALECTS:
        raise ProfileError(f"there is no dialect {dialect!r}{among(dialect, DIALECTS)}")
    if chosen is None:
        kind = ProfileError if book.profiles else NoProfileError
        raise kind(
            "no gateway is given: run 'gwtui login' once, or look around with --demo; "
            "--profile NAME, --base-url URL, GWTUI_PROFILE and GWTUI_BASE_URL name one, too"
        )
    return replace(
        chosen,
        dialect=DIALECTS[dialect].name if dialect else chosen.dialect,
        read_only=read_only or chosen.read_only,
    )


def _named_profile(book: ProfileBook, name: str) -> Profile:
    if name in book.profiles:
        return book.profiles[name]
    raise ProfileError(f"there is no profile {name!r}{among(name, sorted(book.profiles))}")


def ad_hoc_profile(address: str) -> Profile:
    """A gateway given by address alone. Raises ProfileError."""
    try:
        return Profile(base_url=normalise_base_url(address))
    except InvalidConnectionError as error:
        raise ProfileError(str(error)) from None


def _at_address(profile: Profile | None, address: str) -> Profile:
    alone = ad_hoc_profile(address)
    url = alone.base_url
    if profile is None:
        return alone
    if _origin(url) == _origin(profile.base_url):
        return replace(profile, base_url=url)
    return replace(
        profile,
        base_url=url,
        name="",
        token_command=None,
        token_file=None,
        allow_plain_http=False,
        probe=None,
    )


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}[parts.scheme]


_SECRETS = frozenset({"token", "key", "api_key", "secret", "password"})


def load_profiles(path: Path, *, keep_unknown: bool = False) -> ProfileBook:
    """Read the profile file; an absent one is an empty book. Raises ProfileError.

    An unknown key is an error: it may be a guard that somebody mistyped. ``keep_unknown`` only
    notes it, for commands that talk to no gateway.
    """
    return parse_profiles(path, read_profile_text(path), keep_unknown=keep_unknown)


def read_profile_text(path: Path) -> str:
    """The text of the profile file, empty when it is absent. Raises ProfileError."""
    try:
        return read_user_text(path)
    except UserFileError as error:
        raise ProfileError(str(error)) from None


def parse_profiles(path: Path, text: str, *, keep_unknown: bool = False) -> ProfileBook:
    """What the text of the file at ``path`` says. Raises ProfileError."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ProfileError(not_toml(path, text, error)) from None
    return _ProfileFileReader(path, text, keep_unknown).book(content)


class _ProfileFileReader:
    """Reads one file, and says of each fault where it stands."""

    def __init__(self, path: Path, text: str, keep_unknown: bool) -> None:
        self._path = path
        self._text = text
        self._keep_unknown = keep_unknown
        self._unknown: list[str] = []

    def book(self, content: dict[str, Any]) -> ProfileBook:
        tables = content.get("profiles", {})
        default = content.get("default")
        self._refuse_unknown((), content, frozenset({"profiles", "default"}))
        if not isinstance(tables, dict):
            raise self._fault(("profiles",), "must be tables such as [profiles.work]")
        profiles = {name: self._profile(name, table) for name, table in tables.items()}
        if default is not None and (not isinstance(default, str) or default not in profiles):
            hint = among(default, profiles) if isinstance(default, str) else ""
            raise self._fault(("default",), f"there is no profile {default!r}{hint}")
        return ProfileBook(profiles, default, tuple(self._unknown))

    def _profile(self, name: str, table: object) -> Profile:
        where = ("profiles", name)
        if not name:
            raise self._fault(where, "needs a name")
        if not isinstance(table, dict):
            raise self._fault(where, "must be a table")
        self._refuse_unknown(where, table, FIELDS)
        known = {key: value for key, value in table.items() if key in FIELDS}
        for inner in (CHECK, PROBE, FINDINGS):
            found = known.get(inner)
            if isinstance(found, dict):
                keys = _keys_of(inner)
                self._refuse_unknown((*where, inner), found, keys)
                known[inner] = {key: value for key, value in found.items() if key in keys}
        try:
            return validated_profile({**known, "name": name})
        except InvalidProfileError as error:
            raise self._fault((*where, *error.path), str(error)) from None

    def _refuse_unknown(
        self, where: tuple[str, ...], table: Mapping[str, Any], known: frozenset[str]
    ) -> None:
        for name in table:
            if name in known:
                continue
            fault = self._fault((*where, name), f"is not a known key{_hint(name, known)}")
            if not self._keep_unknown:
                raise fault
            self._unknown.append(str(fault))

    def _fault(self, path: tuple[str, ...], message: str) -> ProfileError:
        line = line_of(self._text, path)
        place = f"{self._path}:{line}" if line else str(self._path)
        return ProfileError(f"{place}: {safe_line('.'.join(path), 120)}: {message}")


def _hint(name: str, known: frozenset[str]) -> str:
    if name.lower() in _SECRETS:
        return ": no secret is kept in this file, see gwtui login --help"
    return did_you_mean(name, known)
