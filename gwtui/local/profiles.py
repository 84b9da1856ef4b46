"""Profiles: named gateways in ``profiles.toml``, and which one a start of the program means.

    default = "work"

    [profiles.work]
    base_url = "https://gateway.example/api/v1"
    token_command = ["pass", "gateway/management"]
    critical = true

An edit of the file changes only its own lines (``toml_file``).
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from gwtui.client.connection import Connection, InvalidConnectionError, normalise_base_url
from gwtui.contract.dialects import DIALECTS, DialectName
from gwtui.domain.lookup import among, did_you_mean
from gwtui.domain.safe_text import safe_line
from gwtui.local.profile_fields import (
    FIELDS,
    RETIRED,
    TABLES,
    InvalidFieldError,
    keys_of,
    validated_fields,
)
from gwtui.local.toml_file import (
    TomlEditError,
    TomlEditor,
    TomlValue,
    UserFileError,
    edit_user_file,
    line_of,
    not_toml,
    read_user_text,
)

if TYPE_CHECKING:
    from gwtui.client.prometheus import PrometheusServer
    from gwtui.domain.known_secrets import Secret
    from gwtui.local.profile_tables import CheckThresholds

FILE_NAME = "profiles.toml"
_PROFILES = "profiles"
_DEFAULT = "default"

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
    history: Literal["file", "prometheus"] = "file"
    """Where recorded figures are read from."""
    history_url: str = ""
    history_match: str = ""
    """Label matchers of every query, such as ``job="gwtui"``."""
    history_token_command: tuple[str, ...] | None = None
    history_token_file: Path | None = None
    check: CheckThresholds | None = None
    """When ``gwtui check`` warns; what is usual without it."""
    unused_days: int | None = None
    """Days without a request after which a key is a finding; what is usual without it."""

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
                unused_days=self.unused_days,
                history=self._prometheus(),
            )
        except InvalidConnectionError as error:
            raise ProfileError(f"profile {self.label}: {error}") from None

    def _prometheus(self) -> PrometheusServer | None:
        if self.history == "file":
            return None
        from gwtui.client.prometheus import PrometheusServer  # noqa: PLC0415 - few profiles
        from gwtui.local.tokens import find_history_token  # noqa: PLC0415 - few profiles

        return PrometheusServer(
            self.history_url,
            self.history_match,
            partial(find_history_token, self),
            self.allow_plain_http,
            self.use_proxy,
        )


def validated_profile(given: Mapping[str, Any]) -> Profile:
    """A profile of these fields, as a person wrote them. Raises InvalidFieldError."""
    return Profile(**validated_fields(given))


@dataclass(frozen=True, slots=True)
class ProfileBook:
    """Every profile of the file, by name; empty when there is no file."""

    profiles: Mapping[str, Profile] = field(default_factory=dict)
    default: str | None = None
    unknown: tuple[str, ...] = ()
    """What was passed over, each with its line: settings that no longer exist and, where that was
    asked for, unknown keys."""


def resolve(
    profile_name: str | None,
    base_url: str | None,
    dialect: str | None,
    read_only: bool,
    environ: Mapping[str, str],
    *,
    book: ProfileBook,
) -> Profile:
    """The profile of this start: arguments win over the environment, both over the file.

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
        history="file",
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
        for inner in TABLES:
            found = known.get(inner)
            if isinstance(found, dict):
                keys = keys_of(inner)
                self._refuse_unknown((*where, inner), found, keys)
                known[inner] = {key: value for key, value in found.items() if key in keys}
        try:
            return validated_profile({**known, "name": name})
        except InvalidFieldError as error:
            raise self._fault((*where, *error.path), str(error)) from None

    def _refuse_unknown(
        self, where: tuple[str, ...], table: Mapping[str, Any], known: frozenset[str]
    ) -> None:
        for name in table:
            if name in known:
                continue
            if why := RETIRED.get((*where[2:], name)):
                why = f"is ignored: {why}"
                self._unknown.append(str(self._fault((*where, name), why)))
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


def put_profile(
    path: Path, name: str, values: Mapping[str, TomlValue | None], *, default: bool = False
) -> None:
    """Add a profile or change these fields of it; None removes a field.

    With ``default``, it becomes the profile that a start without a name means. Raises ProfileError
    and then leaves the file as it was.
    """

    def change(editor: TomlEditor) -> None:
        table = (_PROFILES, name)
        for name_of_field, value in values.items():
            if value is None:
                editor.drop(table, name_of_field)
            else:
                editor.put(table, name_of_field, value)
        if default:
            editor.put((), _DEFAULT, name)

    _edit(path, change)


def remove_profile(path: Path, name: str) -> None:
    """Remove a profile, and the default when that is what it was. Raises ProfileError."""

    def change(editor: TomlEditor) -> None:
        _require(editor, name)
        editor.drop_table((_PROFILES, name))
        if editor.data.get(_DEFAULT) == name:
            editor.drop((), _DEFAULT)

    _edit(path, change)


def set_default(path: Path, name: str) -> None:
    """Make a profile the one that a start without a name means. Raises ProfileError."""

    def change(editor: TomlEditor) -> None:
        _require(editor, name)
        editor.put((), _DEFAULT, name)

    _edit(path, change)


def _require(editor: TomlEditor, name: str) -> None:
    tables = editor.data.get(_PROFILES, {})
    if not isinstance(tables, dict):
        raise TomlEditError(f"{_PROFILES} is not a table")
    if name not in tables:
        raise ProfileError(f"there is no profile {name!r}{among(name, tables)}")


def _edit(path: Path, change: Callable[[TomlEditor], None]) -> None:
    try:
        edit_user_file(
            path, change, lambda text: parse_profiles(path.resolve(), text, keep_unknown=True)
        )
    except UserFileError as error:
        raise ProfileError(str(error)) from None
