"""gwtui activity list: rows of some days, and sums of them by day, model, key and user."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal

import pytest

from gwtui.cli import exits
from headless_kit import Gwtui


def table(out: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(out)))


def spent(rows: list[dict[str, str]]) -> Decimal:
    return sum((Decimal(row["spend"]) for row in rows), Decimal(0))


def test_sums_agree_with_the_rows_whatever_they_are_grouped_by(gwtui: Gwtui) -> None:
    code, out, _ = gwtui("activity", "list", "--since", "yesterday", "--output", "csv")
    rows = table(out)
    assert code == exits.OK
    assert rows
    [day] = {row["day"] for row in rows}
    for by in ("day,model,key", "user,workspace", "provider"):
        code, out, err = gwtui(
            *("activity", "list", "--since", "yesterday", "--until", "yesterday"),
            *("--group-by", by, "--output", "csv"),
        )
        assert code == exits.OK, err
        sums = table(out)
        assert spent(sums) == spent(rows), by
        assert sum(int(one["requests"]) for one in sums) == sum(
            int(one["requests"]) for one in rows
        )
        assert [*sums[0]][: by.count(",") + 1][0] == by.split(",")[0]
        if by.startswith("day"):
            assert {one["day"] for one in sums} == {day}
            assert all(one["key_id"] or one["key"] == "deleted keys" for one in sums)
    costs = [Decimal(one["spend"]) for one in sums]
    assert costs == sorted(costs, reverse=True)

    code, out, _ = gwtui(
        "activity", "list", "--group-by", "day", "--since", "3d", "--output", "json"
    )
    days = [one["day"] for one in json.loads(out)]
    assert days == sorted(days)
    assert len(days) == 3
    code, out, err = gwtui("activity", "list", "--group-by", "key", "--since", "yesterday")
    assert code == exits.OK
    assert f"{day} UTC: " in err
    assert out.splitlines()[0].split()[:2] == ["key", "spend"]
    assert " $" in out.splitlines()[1]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--group-by", "modle"), "unknown part 'modle'; did you mean 'model'?"),
        (("--group-by", "key,key"), "key is given twice"),
        (("--group-by", "key", "--sort", "spend"), "--sort cannot be combined with --group-by"),
        (("--group-by", "key", "--since", "today"), "--since: today is not over"),
        (("--until", "2020-01-01"), "--until: the gateway keeps the last 30 completed days"),
        (("--group-by", "user", "--key", "voice-hotline"), "cannot be combined with --key"),
        (("--since", "yesterday", "--until", "2d"), "--since and --until: expected yesterday"),
    ],
)
def test_what_cannot_be_asked_is_a_mistake_of_usage(
    gwtui: Gwtui, words: tuple[str, ...], says: str
) -> None:
    code, out, err = gwtui("activity", "list", *words)
    assert (code, out) == (exits.USAGE, "")
    assert says in err
