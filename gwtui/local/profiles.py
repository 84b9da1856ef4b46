"""Profiles: named gateways in ``profiles.toml``, and the choice of one at the start.

    default = "work"

    [profiles.work]
    base_url = "https://gateway.example/api/v1"
    token_command = ["pass", "gateway/management"]
    critical = true

Edits keep comments and unknown keys (``toml_file``).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from gwtui.client.connection import Connection, InvalidConnectionError, normalise_base_url
from gwtui.contract.dialects import DIALECTS, DialectName
from gwtui.domain.lookup import among, did_you_mean
from gwtui.domain.safe_text import safe_line
from gwtui.local.settings_file import Setting, Settings, one_of, parse_settings
from gwtui.local.toml_file import (
    TomlFile,
    TomlPath,
    TomlValue,
    WrongSettingError,
    with_values,
    without_table,
)

if TYPE_CHECKING:
    from pydantic import SecretStr

    from gwtui.client.prometheus import PrometheusServer

# Thresholds of ``gwtui check`` --------------------------------------------------------------------

Thresholds = Mapping[str, Any]
"""Thresholds by name, without those that are not set."""
WINDOW = "30m"
"""The default time window of the uptime."""
TIME_LIMIT = 10
"""The default time limit of a check, in seconds."""
_LONGEST = 3600
_FALLING = ("credits", "runway", "uptime", "expiry")
"""Metrics that get worse as they fall."""
_RISING = ("keys",)


def _not_negative(_name: str, value: Decimal) -> str:
    return "" if value >= 0 else "must be at least 0"


def _positive(_name: str, value: Decimal) -> str:
    return "" if value > 0 else "must be greater than 0"


def _time_limit(_name: str, value: Decimal) -> str:
    return "" if 0 < value <= _LONGEST else f"must be more than 0 and at most {_LONGEST}"


def _pair(name: str, condition: str, **more: Any) -> Iterator[Setting]:
    for severity in ("warning", "critical"):
        yield Setting(f"{name}_{severity}", "amount", f"{severity} if {condition}", **more)


THRESHOLDS = (
    *_pair("credits", "the balance in USD is below this"),
    *_pair("runway", "the credits last fewer days than this", check=_positive),
    Setting("models", "names", "check the endpoints of this model"),
    Setting("watched", "flag", "check the models that the dashboard watches"),
    *_pair(
        "uptime",
        "the uptime percentage is below this",
        check=_not_negative,
    ),
    Setting(
        "uptime_window",
        "text",
        "period to measure: 5m or 30m (share of good requests), or 1d (share of good minutes)",
        WINDOW,
        one_of(("5m", "30m", "1d")),
    ),
    Setting(
        "uptime_of",
        "text",
        "which endpoint of a model counts: worst or best",
        "worst",
        one_of(("worst", "best")),
    ),
    *_pair("keys", "at least this percentage of a key's limit is used", check=_not_negative),
    *_pair("expiry", "a key expires within this many days", check=_positive),
    Setting("rules", "flag", "also check runway and keys against the alert rules"),
    Setting("alerts", "flag", "also report the alerts of the dashboard on this machine"),
    Setting("timeout", "amount", "time limit in seconds", str(TIME_LIMIT), _time_limit),
)
"""The settings of a check. A figure without a threshold never warns."""


def threshold_conflict(given: Thresholds) -> str:
    """Why a warning and a critical threshold contradict each other; "" if none do."""
    for name in (*_FALLING, *_RISING):
        warning, critical = given.get(f"{name}_warning"), given.get(f"{name}_critical")
        if warning is None or critical is None:
            continue
        if warning < critical if name in _FALLING else warning > critical:
            return f"{name}: the warning threshold must be reached before the critical one"
    return ""


# Profiles -----------------------------------------------------------------------------------------

FILE_NAME = "profiles.toml"
_PROFILES = "profiles"
_DEFAULT = "default"
_CHECK = "check."
"""Prefix of the settings in the table ``check``."""
_TOP = (_PROFILES, _DEFAULT)

TokenSource = Literal["token command", "token file", "keyring"]
"""The token source of a profile, used if the environment has no token."""


class ProfileError(Exception):
    """A profile cannot be used; the message names the file, the key and the problem."""


class NoProfileError(ProfileError):
    """No gateway is given, and there are no profiles to choose from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The settings of one gateway. It says where the token is, but does not contain it."""

    name: str = ""
    """Empty for a gateway that is given by its address."""
    base_url: str
    dialect: DialectName = "generic"
    read_only: bool = False
    critical: bool = False
    """Whether the dashboard warns of this gateway and asks twice before writes."""
    allow_plain_http: bool = False
    use_proxy: bool = False
    token_command: tuple[str, ...] | None = None
    """Program and arguments that print the token, run without a shell."""
    token_file: Path | None = None
    """A file of mode 0600 that contains the token."""
    history: Literal["file", "prometheus"] = "file"
    """Source of the recorded history."""
    history_url: str = ""
    history_match: str = ""
    """Label matchers for every query, such as ``job="gwtui"``."""
    history_token_command: tuple[str, ...] | None = None
    history_token_file: Path | None = None
    check: Settings = field(default_factory=dict, hash=False)
    """The thresholds of ``gwtui check``."""
    unused_days: int | None = None
    """Days without a request after which a key counts as unused; None is the default."""

    @property
    def label(self) -> str:
        """The name to display: that of the profile, else the host."""
        return self.name or self.host

    @property
    def host(self) -> str:
        """The host and port of the gateway."""
        return urlsplit(self.base_url).netloc

    @property
    def token_source(self) -> TokenSource:
        """The token source if the environment has no token."""
        if self.uses_keyring:
            return "keyring"
        return "token command" if self.token_file is None else "token file"

    @property
    def key_from(self) -> str:
        """The token source with its program or file, without the arguments of the program."""
        detail = self.token_command[0] if self.token_command else self.token_file
        return f"{self.token_source} {detail}" if detail else self.token_source

    @property
    def uses_keyring(self) -> bool:
        """Whether the token is read from the keyring."""
        return self.token_command is None and self.token_file is None

    @property
    def _named_by(self) -> tuple[str, ...]:
        if self.name:
            return ("--profile", self.name)
        dialect = () if self.dialect == "generic" else ("--dialect", self.dialect)
        return ("--base-url", self.base_url, *dialect)

    def connection(self, token: SecretStr | None, token_source: str) -> Connection:
        """The connection to this gateway. Raises ProfileError if its settings are unsafe."""
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

    def values(self) -> dict[str, TomlValue]:
        """The settings that differ from the defaults, as in the file, without tables."""
        values: dict[str, TomlValue] = {}
        for setting in fields(self):
            value = getattr(self, setting.name)
            if setting.name in ("name", "check", "unused_days") or value == setting.default:
                continue
            values[setting.name] = [*value] if isinstance(value, tuple) else value
            if isinstance(value, Path):
                values[setting.name] = str(value)
        return values


@dataclass(frozen=True, slots=True)
class ProfileBook:
    """The profiles of the file by name; empty if there is no file."""

    profiles: Mapping[str, Profile] = field(default_factory=dict)
    default: str | None = None
    unknown: tuple[str, ...] = ()
    """Messages about unknown keys, if they are tolerated."""


def resolve(
    profile_name: str | None,
    base_url: str | None,
    dialect: str | None,
    read_only: bool,
    environ: Mapping[str, str],
    *,
    book: ProfileBook,
) -> Profile:
    """Choose the profile of this start: arguments first, then the environment, then the file.

    An address overrides that of the profile and keeps its other settings; on another host, the
    token of the profile is not used. GWTUI_BASE_URL does not override a profile that an argument
    names. Raises ProfileError.
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
            "no gateway is given: run 'gwtui login' once, try --demo, or name a gateway with "
            "--profile NAME, --base-url URL, GWTUI_PROFILE or GWTUI_BASE_URL"
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
    """The profile of a gateway that is given by its address. Raises ProfileError."""
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


# The file -----------------------------------------------------------------------------------------


def _address(_name: str, value: str) -> str:
    try:
        normalise_base_url(value)
    except InvalidConnectionError as error:
        return str(error)
    return ""


def _server(_name: str, value: str) -> str:
    parts = urlsplit(value)
    fits = parts.scheme in {"http", "https"} and parts.hostname and not parts.username
    return "" if fits else "must be an address such as https://prometheus.example"


def _program(_name: str, value: list[str]) -> str:
    return "" if value else "must have at least 1 entry"


def _days(_name: str, value: int) -> str:
    return "" if value in _UNUSED_DAYS else f"must be from 1 to {_UNUSED_DAYS[-1]}"


_UNUSED_DAYS = range(1, 3651)

FIELDS = (
    Setting("base_url", "text", check=_address),
    Setting("dialect", "text", check=one_of(DIALECTS)),
    Setting("read_only", "flag"),
    Setting("critical", "flag"),
    Setting("allow_plain_http", "flag"),
    Setting("use_proxy", "flag"),
    Setting("token_command", "names", check=_program),
    Setting("token_file", "text"),
    Setting("history", "text", check=one_of(("file", "prometheus"))),
    Setting("history_url", "text", check=_server),
    Setting("history_match", "text"),
    Setting("history_token_command", "names", check=_program),
    Setting("history_token_file", "text"),
    Setting("findings.unused_days", "number", check=_days),
    *(replace(threshold, name=f"{_CHECK}{threshold.name}") for threshold in THRESHOLDS),
)
"""The settings of a profile in the file."""

_SECRETS = frozenset({"token", "key", "api_key", "secret", "password"})


def profile_of(name: str, fields_given: Mapping[str, Any]) -> Profile:
    """A profile from its settings in the file. Raises WrongSettingError."""
    return _profile(name, parse_settings(fields_given, FIELDS).known)


def _profile(name: str, values: Settings) -> Profile:
    if "base_url" not in values:
        raise WrongSettingError("base_url", "is required")
    if values.get("history") == "prometheus" and "history_url" not in values:
        raise WrongSettingError("history_url", 'is required with history = "prometheus"')
    if "token_command" in values and "token_file" in values:
        raise WrongSettingError("", "token_command and token_file exclude each other")
    given: dict[str, Any] = {"check": {}}
    for key, value in values.items():
        place = given["check"] if key.startswith(_CHECK) else given
        place[key.rpartition(".")[2]] = tuple(value) if isinstance(value, list) else value
    if problem := threshold_conflict(given["check"]):
        raise WrongSettingError(_CHECK.rstrip("."), problem)
    for key in given.keys() & {"token_file", "history_token_file"}:
        given[key] = Path(given[key])
    given["base_url"] = normalise_base_url(given["base_url"])
    return Profile(name=name, **given)


def load_profiles(path: Path, *, keep_unknown: bool = False) -> ProfileBook:
    """Read the profiles; a missing file has none. Raises ProfileError.

    An unknown key is an error, because it may be a misspelled protection. With ``keep_unknown``, it
    is only reported, for commands that do not connect to a gateway.
    """
    return _file(path, keep_unknown=keep_unknown).read()


def _file(path: Path, *, keep_unknown: bool) -> TomlFile[ProfileBook]:
    return TomlFile(path, partial(_book, keep_unknown=keep_unknown), ProfileError)


def _book(content: Mapping[str, Any], *, keep_unknown: bool) -> ProfileBook:
    tables, default = content.get(_PROFILES, {}), content.get(_DEFAULT)
    if not isinstance(tables, dict):
        raise WrongSettingError(_PROFILES, "must be tables such as [profiles.work]")
    notes = [
        _note(key, f"is not a known key{did_you_mean(key, _TOP)}", keep=keep_unknown)
        for key in content
        if key not in _TOP
    ]
    profiles = {}
    for name, table in tables.items():
        where = f"{_PROFILES}.{name}"
        if not name or not isinstance(table, dict):
            raise WrongSettingError(where, "must be a table" if name else "needs a name")
        try:
            settings = parse_settings(table, FIELDS)
            unknown = [_note(key, why, keep=keep_unknown) for key, why in settings.unknown.items()]
            profiles[name] = _profile(name, settings.known)
        except WrongSettingError as error:
            raise error.inside(where) from None
        notes += [f"{safe_line(where, 120)}.{note}" for note in unknown]
    if default is not None and default not in list(profiles):
        hint = among(str(default), profiles)
        raise WrongSettingError(_DEFAULT, f"there is no profile {default!r}{hint}")
    return ProfileBook(profiles, default, tuple(f"{FILE_NAME}: {note}" for note in notes))


def _note(key: str, why: str, *, keep: bool) -> str:
    if key.lower() in _SECRETS:
        why = "is not a known key: no secret is kept in this file, see gwtui login --help"
    error = WrongSettingError(key, why)
    if not keep:
        raise error
    return str(error)


def put_profile(
    path: Path, name: str, values: Mapping[str, TomlValue | None], *, default: bool = False
) -> None:
    """Add a profile or change some of its settings; None removes a setting.

    ``default``: also make it the default profile. The file stays as it was on an error. Raises
    ProfileError.
    """
    changes: dict[TomlPath, TomlValue | None] = {(_DEFAULT,): name} if default else {}
    changes |= {(_PROFILES, name, key): value for key, value in values.items()}
    _file(path, keep_unknown=True).change(lambda text: with_values(text, changes))


def remove_profile(path: Path, name: str) -> None:
    """Remove a profile; if it is the default, there is none afterwards. Raises ProfileError."""

    def edit(text: str) -> str:
        if tomllib.loads(text).get(_DEFAULT) == name:
            text = with_values(text, {(_DEFAULT,): None})
        return without_table(text, _PROFILES, name)

    _file(path, keep_unknown=True).change(edit)


def set_default(path: Path, name: str) -> None:
    """Make a profile the default. Raises ProfileError."""
    put_profile(path, name, {}, default=True)
