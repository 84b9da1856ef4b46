"""The time zone of this machine, as something that plots can be drawn in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo


class MachineZone(tzinfo):
    """What the operating system says of each moment, summer time included."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        """Its distance from UTC at that wall-clock time."""
        return None if moment is None else moment.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, _moment: datetime | None) -> timedelta | None:
        """Not known apart from the whole distance."""
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        """Its name at that time."""
        return None if moment is None else moment.replace(tzinfo=None).astimezone().tzname()

    def fromutc(self, moment: datetime) -> datetime:
        """The wall-clock time of a moment."""
        return moment.replace(tzinfo=UTC).astimezone().replace(tzinfo=self)
