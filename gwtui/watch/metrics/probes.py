"""Probes as metrics: they are read from what is recorded, whichever instance sent them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from gwtui.domain.probing import ProbeSpending
from gwtui.watch.history.file import open_readable
from gwtui.watch.history.model import (
    PROBE_FIGURES,
    PROBE_OK,
    HistoryError,
    Observation,
    Sample,
    Subject,
)
from gwtui.watch.history.reader import HistoryReader
from gwtui.watch.metrics.readings import PATIENCE, Picture
from gwtui.watch.probes.spending import spending_of


def with_probes(picture: Picture, path: Path, now: datetime) -> Picture:
    """The picture with the latest probe of each endpoint, as far as it is fresh enough.

    Where nothing is recorded, or it cannot be read, it is the picture alone.
    """
    try:
        with closing(open_readable(path)) as connection:
            reader = HistoryReader(connection)
            found = {seen.source: seen for seen in latest_probes(reader, now)}
            spent: ProbeSpending | None = spending_of(connection, now.date())
    except (HistoryError, sqlite3.Error):
        return picture
    if not found and spent == ProbeSpending():
        spent = None
    return replace(picture, probes=found, probes_spent=None if spent is None else spent.at_most)


def latest_probes(reader: HistoryReader, now: datetime) -> Iterator[Observation]:
    """The latest probe of each endpoint that is not too old. Raises sqlite3.Error."""
    facts = reader.facts_at(now, "endpoint")
    for series in reader.series("endpoint", None, PROBE_OK):
        subject = Subject(*series.key[:2])
        at = reader.latest(series.key).measured_at
        if at is None or subject not in facts:
            continue
        if (now - at).total_seconds() > PATIENCE * series.every:
            continue
        samples = []
        for figure in PROBE_FIGURES:
            of_figure = replace(series, key=series.key._replace(figure=figure))
            samples.append(Sample(of_figure, reader.latest(of_figure.key).value))
        yield Observation(
            f"probe:{subject.identity}",
            at,
            series.every,
            tuple(samples),
            {subject: facts[subject]},
        )
