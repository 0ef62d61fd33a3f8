"""Tests on real Paddle: they share their runs (runs.py) and skip with a reason where Paddle is not installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from runs import Ask, Made, Runs, paddle_version


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if paddle_version() is None:
        skip = pytest.mark.skip(reason="Paddle is not installed (pip install with the cpu extra)")
        for item in items:
            if item.get_closest_marker("paddle"):
                item.add_marker(skip)


@pytest.fixture(scope="session")
def runs(request: pytest.FixtureRequest) -> Iterator[Runs]:
    """All runs that the selected tests will ask for, started on before the first is needed."""
    shared = Runs()
    shared.announce(_asked_for(request.session.items))
    yield shared
    shared.close()


def _asked_for(items: list[pytest.Item]) -> Iterator[Ask]:
    for item in items:
        parameters = getattr(item, "callspec", None)
        values = list(parameters.params.values()) if parameters else []
        marker = item.get_closest_marker("asks")
        for value in [*values, *(marker.args if marker else ())]:
            ask = getattr(value, "ask", value)
            if isinstance(ask, Ask) and not item.get_closest_marker("skip"):
                yield ask


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "asks(*asks): runs of sotprobe that the test looks at, so that they start early")


@pytest.fixture
def made(request: pytest.FixtureRequest, runs: Runs) -> Made:
    """The run of a test that is parametrised with ``ask``, or with something that has one."""
    values = request.node.callspec.params.values()
    (ask,) = [ask for value in values if isinstance(ask := getattr(value, "ask", value), Ask)]
    return runs.made(ask)
