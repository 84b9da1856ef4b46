"""Which identities were met, in little memory."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gwtui.client.paging import IdentitySet

IDENTITIES = st.one_of(st.text(max_size=3), st.integers(-3, 3), st.tuples(st.text(max_size=1)))


@given(st.lists(IDENTITIES))
def test_it_knows_what_a_set_knows(met: list[object]) -> None:
    ours, theirs = IdentitySet(), set[int]()
    for one in met:
        # Only the hash counts; 0 is that of 0 and of the empty text.
        number = hash(one) or 1
        assert (one in ours) == (number in theirs)
        assert ours.add(one) == (number not in theirs)
        theirs.add(number)
    assert len(ours) == len(theirs)


def test_it_grows() -> None:
    ours = IdentitySet()
    names = [f"{number:064x}" for number in range(20_000)]
    assert sum(map(ours.add, names)) == len(names)
    assert sum(map(ours.add, names)) == 0
    assert all(name in ours for name in names)
    assert "another" not in ours
