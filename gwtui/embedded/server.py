"""The library of the server, without its command line: that is 40 modules which nobody here uses.

The library loads it with itself. Here it finds nothing in its place, only its own ``Server``, which
it means to take from there; afterwards everything is as if it had never been asked for.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

_COMMAND = "uvicorn.main"


class _NoCommand(ModuleType):
    """Stands for the module of the command while the library is loaded."""

    main = run = None

    def __getattr__(self, name: str) -> Any:
        if name != "Server":
            raise AttributeError(name)
        from uvicorn.server import Server  # noqa: PLC0415 - the library is being loaded

        return Server


_stand_in = _NoCommand(_COMMAND)
_stands_in = sys.modules.setdefault(_COMMAND, _stand_in) is _stand_in
try:
    from uvicorn.config import Config
    from uvicorn.protocols.http.h11_impl import H11Protocol
    from uvicorn.server import Server
finally:
    if _stands_in:
        del sys.modules[_COMMAND]

__all__ = ["Config", "H11Protocol", "Server"]
