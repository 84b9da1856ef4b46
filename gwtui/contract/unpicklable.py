"""``Unpicklable``: the base of classes that hold a secret, which must not become bytes by chance.

A module of its own, so that a token can be read before pydantic is loaded.
"""

from __future__ import annotations

from typing import Any, NoReturn, SupportsIndex


class Unpicklable:
    """Refuses to be pickled: the bytes would hold the secret in clear, wherever they went."""

    __slots__ = ()

    def __reduce_ex__(self, _protocol: SupportsIndex) -> NoReturn:
        raise TypeError(f"{type(self).__name__} may hold a secret and is not pickled")

    def __reduce__(self) -> Any:
        return self.__reduce_ex__(2)
