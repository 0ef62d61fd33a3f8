"""A real browser for tests of pages: chromium without a window, driven by the DevTools protocol over two pipes.

Messages are JSON, each ended by a zero byte: the browser reads from its file descriptor 3 and writes to 4
(``--remote-debugging-pipe``), so no library and no port is needed.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--window-size=1400,900",
)  # fmt: skip
PATIENCE_S = 60


def find() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


class BrowserError(Exception):
    pass


class Browser:
    """One page of one browser. Every request that it makes for the network is in ``requests``."""

    def __init__(self, executable: str, profile: Path) -> None:
        ours_in, self._out = os.pipe()
        self._in, ours_out = os.pipe()

        def connect() -> None:
            low_in, low_out = os.dup(ours_in), os.dup(ours_out)  # 3 and 4 may be taken by the pipes themselves
            os.dup2(low_in, 3)
            os.dup2(low_out, 4)

        self._process = subprocess.Popen(
            [executable, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=connect,
        )  # fmt: skip
        os.close(ours_in)
        os.close(ours_out)
        self._number = 0
        self._buffer = b""
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = next(info for info in self.call("Target.getTargets")["targetInfos"] if info["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)

    # --- the protocol

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while (answer := self._read()).get("id") != self._number:
            self.events.append(answer)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']}")
        return answer["result"]

    def _read(self) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE_S
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0.0, deadline - time.monotonic()))
            read = os.read(self._in, 1 << 20) if ready else b""
            if not read:
                raise BrowserError("the browser does not answer")
            self._buffer += read
        text, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(text)

    def _named(self, method: str) -> list[dict[str, Any]]:
        return [event["params"] for event in self.events if event.get("method") == method]

    # --- what a user does

    def open(self, page: Path, fragment: str = "") -> None:
        for url in ("about:blank", page.as_uri() + fragment):
            self.events.clear()
            self.call("Page.navigate", url=url)
            while not self._named("Page.loadEventFired"):
                self.events.append(self._read())

    def value(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise BrowserError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def click(self, selector: str) -> None:
        """A click of the mouse in the middle of what a selector finds."""
        x, y = self.value(
            f"(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
            " return [(box.left + box.right) / 2, (box.top + box.bottom) / 2]; })()"
        )
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y)

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        button = {} if kind in ("mouseMoved", "mouseWheel") else {"button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **{**button, **more})

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def press(self, key: str) -> None:
        texts = {"Enter": "\r"}
        more = {"text": texts.get(key, key)} if key in texts or len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    # --- what it says

    @property
    def requests(self) -> list[str]:
        self.call("Runtime.evaluate", expression="0")  # whatever is still on its way comes first
        return [event["request"]["url"] for event in self._named("Network.requestWillBeSent")]

    @property
    def complaints(self) -> list[str]:
        """Errors of scripts, and what the page's policy refused."""
        self.call("Runtime.evaluate", expression="0")
        thrown = [str(event["exceptionDetails"]) for event in self._named("Runtime.exceptionThrown")]
        return thrown + [event["entry"]["text"] for event in self._named("Log.entryAdded")]
