"""Faults on demand: what a gateway does on a bad day, limited to operations, a number and a chance.

``FaultInjector`` holds the faults and stands before the gateway's application; ``parse`` reads one
as it is written on the command line, such as ``reset-after:POST /keys x1``. A gateway without
faults loads none of this.
"""

from gwtui.embedded.faults.grammar import catalogue, parse
from gwtui.embedded.faults.injector import FaultInjector
from gwtui.embedded.faults.kinds import Fault

__all__ = ["Fault", "FaultInjector", "catalogue", "parse"]
