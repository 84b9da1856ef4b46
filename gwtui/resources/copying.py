"""Copied rows: complete text that is safe to paste."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from gwtui.client.errors import InvalidRequestError
from gwtui.crud.export import is_made_up, machine_value, raw_object, raw_objects
from gwtui.crud.resource import Column, ResourceSpec
from gwtui.domain.safe_text import safe_line, safe_text
from gwtui.domain.serialize import exact_json, exact_text
from gwtui.local.tokens import TOKEN_VARIABLE
from gwtui.resources.registry import PARENTS

if TYPE_CHECKING:
    from gwtui.client.call import Call
    from gwtui.client.connection import Connection

T = TypeVar("T")

Kind = Literal["id", "name", "cell", "json", "curl", "link"]

CELL: Kind = "cell"
JSON: Kind = "json"

_WHOLE = 100_000
"""Maximum length of a copied text."""
_SHOWN = 40
"""Maximum length of a name in a title."""


@dataclass(frozen=True, slots=True)
class Copyable:
    """An entry of the copy menu; ``note`` describes the text.

    ``text`` returns the text to copy. The entry ``CELL`` asks for a column instead; its ``text`` is
    not called.
    """

    kind: Kind
    title: str
    note: str
    text: Callable[[], str]


@dataclass(frozen=True, slots=True)
class CopySource(Generic[T]):
    """The source of copied rows: their columns and their declaration ``spec``.

    ``spec`` is None for derived figures, which are not gateway objects; their first column is the
    name. ``path`` maps the identity of a row to its dashboard path; it is None if rows have no
    paths.
    """

    columns: Sequence[Column[T]]
    spec: ResourceSpec[T] | None = None
    path: Callable[[str], str] | None = None

    def describe(self, rows: Sequence[T], now: datetime) -> str:
        """Describe the rows in a few words that are safe to display: "key ci", "3 marked keys"."""
        if self.spec is None:
            return (
                f"“{_shown(self._first(rows[0], now))}”" if len(rows) == 1 else f"{len(rows)} rows"
            )
        if len(rows) == 1:
            return f"{self.spec.singular} {_shown(self.spec.name(rows[0]))}"
        return f"{len(rows):,} marked {self.spec.plural or f'{self.spec.singular}s'}"

    def name(self, row: T, now: datetime) -> str:
        """Return the full name of a row; gateway text that is not safe to display.

        ``now`` is the moment for which columns compute their values.
        """
        return self._first(row, now) if self.spec is None else self.spec.whole_name(row, now)

    def _first(self, row: T, now: datetime) -> str:
        return exact_text(machine_value(self.columns[0], row, now))


def declared(spec: ResourceSpec[T], path: Callable[[str], str]) -> CopySource[T]:
    """Return the copy source for the rows of a declared resource."""
    return CopySource(spec.columns, spec, path)


def row_path(resource: str, parent: str | None = None) -> Callable[[str], str]:
    """Return a function from the identity of a row to its dashboard path.

    ``parent`` is the identity of the row that the list was opened from.
    """
    beneath = parent is not None and resource in PARENTS
    start = f"{resource}/{parent}/" if beneath else f"{resource}/"
    return lambda identity: f"{start}{identity}"


def copyables(
    source: CopySource[T], rows: Sequence[T], now: datetime, connection: Connection | None
) -> list[Copyable]:
    """Return the copy menu for the rows. Several rows are copied as lines, or as a JSON array.

    The curl command and the link are only offered for a single row with a connection.
    """
    spec = source.spec
    identities = [] if spec is None else map(spec.identity, rows)
    ids = [identity for identity in identities if not is_made_up(identity)]
    entries = [_lines("id", "Id", ids)] if ids else []
    entries.append(_lines("name", "Name", [source.name(row, now) for row in rows]))
    entries.append(Copyable(CELL, "Cell", "pick a column", str))
    if spec is None:
        return entries
    if objects := [row for row in rows if spec.raw(row)]:
        array = len(rows) > 1
        text = _json_array if array else _json
        note = f"array of {len(objects)}" if array else "as the gateway sent it"
        entries.append(Copyable(JSON, "JSON", note, lambda: text(spec, objects)))
    if len(rows) == 1 and connection is not None:
        entries += _ways_back(spec, source.path, rows[0], connection)
    return entries


def cell_lines(column: Column[T], rows: Iterable[T], now: datetime) -> str:
    """Return the exact values of a column, as in CSV, one per line; unknown values are empty."""
    return "\n".join(printable_text(exact_text(machine_value(column, row, now))) for row in rows)


def printable_text(text: str) -> str:
    """Return the text as one line without control characters, so that pasting runs nothing."""
    return safe_text(text, _WHOLE)


def _shown(text: str) -> str:
    return safe_line(text, _SHOWN)


def _lines(kind: Kind, title: str, texts: Sequence[str]) -> Copyable:
    if len(texts) == 1:
        return Copyable(kind, title, printable_text(texts[0]), lambda: printable_text(texts[0]))
    note = f"{len(texts)}, one on each line"
    return Copyable(kind, f"{title}s", note, lambda: "\n".join(map(printable_text, texts)))


def _json(spec: ResourceSpec[T], rows: Sequence[T]) -> str:
    return exact_json(raw_object(spec, rows[0]), indent=2)


def _json_array(spec: ResourceSpec[T], rows: Sequence[T]) -> str:
    return exact_json(raw_objects(spec, rows), indent=2)


# Curl and link ------------------------------------------------------------------------------------


def _ways_back(
    spec: ResourceSpec[T], path_to: Callable[[str], str] | None, row: T, connection: Connection
) -> Iterable[Copyable]:
    identity = spec.identity(row)
    call = _call(spec, row)
    if call is not None and not (call.segments and is_made_up(identity)):
        command = curl(call, connection)
        note = f"{call.template}, authenticated with ${TOKEN_VARIABLE}"
        yield Copyable("curl", "curl", note, lambda: command)
    path = "" if path_to is None or is_made_up(identity) else path_to(identity)
    if path and path.isprintable():
        command_line = link(path, connection)
        yield Copyable("link", "Link", command_line, lambda: command_line)


def _call(spec: ResourceSpec[Any], row: Any) -> Call | None:
    read_by = spec.read_by(row)
    try:
        call = None if read_by is None else read_by.build()
        if call is not None:
            call.target()
    except InvalidRequestError:
        return None
    return call


def curl(call: Call, connection: Connection) -> str:
    """Return a curl command for a request; the key is a shell variable.

    Raises InvalidRequestError if the request cannot be sent.
    """
    socket = connection.socket_path
    through = [] if socket is None else ["--unix-socket", shlex.quote(str(socket))]
    key = f'-H "Authorization: Bearer ${TOKEN_VARIABLE}"'
    return " ".join(
        ["curl -sS", *through, key, shlex.quote(f"{connection.base_url}{call.target()}")]
    )


def link(path: str, connection: Connection) -> str:
    """Return a command that opens the dashboard at ``path``, which must be printable."""
    return shlex.join(["gwtui", *connection.named_by, path])
