"""Faults on demand: what a gateway does on a bad day, chosen by operation, count and chance.

``Switchboard`` holds the faults and stands before the gateway's application; ``parse`` reads one as
it is written on the command line, such as ``reset-after:POST /keys x1``. Without a switchboard none
of this is loaded.
"""

from gwtui.embedded.faults.grammar import catalogue, parse
from gwtui.embedded.faults.injector import Switchboard
from gwtui.embedded.faults.kinds import Fault

__all__ = ["Fault", "Switchboard", "catalogue", "parse"]
