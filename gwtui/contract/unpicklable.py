"""``Unpicklable``: the base of classes that hold a secret and must not be serialized.

A separate module, so that reading a token does not load pydantic.
"""

from __future__ import annotations

from typing import Any, NoReturn, SupportsIndex


class Unpicklable:
    """Refuses to be pickled: the bytes would contain the secret in clear text."""

    __slots__ = ()

    def __reduce_ex__(self, _protocol: SupportsIndex) -> NoReturn:
        raise TypeError(f"{type(self).__name__} may hold a secret and is not pickled")

    def __reduce__(self) -> Any:
        return self.__reduce_ex__(2)
