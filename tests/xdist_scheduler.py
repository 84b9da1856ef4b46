"""Handing the tests out to the workers of pytest-xdist, and hearing from them, at less expense."""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadGroupScheduling

_SMALL = "tests/unit/"
"""Where most tests take less than sending for the next one."""


class Packing(LoadGroupScheduling):  # type: ignore[misc]
    """As ``--dist=loadgroup``, but a group that was run is forgotten, and unit tests go by files.

    That one counts, after each test, whatever its worker ever got: thousands of groups of one test.
    """

    def _split_scope(self, nodeid: str) -> str:
        group: str = super()._split_scope(nodeid)
        if group == nodeid and nodeid.startswith(_SMALL):
            return nodeid.partition("::")[0]
        return group

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        """Take a test off the list of its worker, which gets more when it has little left."""
        name = self.registered_collections[node][item_index]
        group = self._split_scope(name)
        left = self.assigned_work[node]
        left[group][name] = True
        if all(left[group].values()):
            del left[group]
        self._reschedule(node)


def say_less(config: pytest.Config) -> None:
    """In a worker: tell of a test what came of it, unless it is asked what each part of it took.

    That it begins, was set up, was taken down and ends is shown by nobody, and a message takes as
    long as half of an empty test.
    """
    if config.option.durations is not None or config.option.xmlpath:
        return
    for plugin in config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor":
            _hush(config, plugin)
            return


def _hush(config: pytest.Config, worker: Any) -> None:
    report_all = worker.pytest_runtest_logreport

    def report(report: pytest.TestReport) -> None:
        if report.when == "call" or not report.passed:
            report_all(report)

    config.pluginmanager.unregister(worker)
    worker.pytest_runtest_logstart = worker.pytest_runtest_logfinish = None
    worker.pytest_runtest_logreport = report
    config.pluginmanager.register(worker)
