"""What tests of reports share."""

from __future__ import annotations

import browser
import pytest


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    executable = browser.find()
    if executable is None:
        pytest.skip("no chromium is installed")
    opened = browser.Browser(executable, tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()
