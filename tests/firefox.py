"""A real Firefox, driven over WebDriver BiDi, the protocol that it speaks by itself; nothing else is reached.

Playwright drives Chromium for the other tests. It speaks to a Firefox as people have it, too, but asks for commands
that Debian's (ESR) does not know yet.
"""

import base64
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from browser import NO_FIREFOX, find_firefox
from websocket import create_connection

SECONDS = 80  # the longest wait for any one thing: patience with a busy machine, not a pace to keep
KEYS = {"Enter": "\ue007", "Home": "\ue011", "ArrowRight": "\ue014", "ArrowDown": "\ue015"}

NOBODY = {f"network.proxy.{kind}": "127.0.0.1" for kind in ("http", "ssl", "socks")}
NOBODY |= {f"network.proxy.{kind}_port": 9 for kind in ("http", "ssl", "socks")}
PREFERENCES = {**NOBODY, "network.proxy.type": 1, "network.proxy.failover_direct": False}


class NotStarted(Exception):
    """A Firefox is there and cannot be driven, as one that is shut up in a snap."""


class Firefox:
    """One window. `faults` are the errors of the page's scripts, `asked` the addresses that it asked for."""

    def __init__(self, address: str) -> None:
        self._socket = create_connection(f"{address}/session", timeout=SECONDS, suppress_origin=True)
        self._sent = 0
        self.faults: list[str] = []
        self.asked: list[str] = []
        self._send("session.new", capabilities={})
        self._send("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent"])
        self._context = self._send("browsingContext.create", type="window")["context"]  # the first has no focus

    def open(self, page: Path) -> None:
        """Open a file; returns when it has loaded."""
        self.faults, self.asked = [], []
        self._send("browsingContext.navigate", context=self._context, url=page.as_uri(), wait="complete")

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page."""
        target, script = {"context": self._context}, f"(async () => JSON.stringify(await ({script})))()"
        found = self._send("script.evaluate", expression=script, target=target, awaitPromise=True)
        if found["type"] == "exception":
            raise AssertionError(found["exceptionDetails"]["text"])
        return json.loads(found["result"].get("value", "null"))

    def wait(self, script: str) -> None:
        """Until an expression in the page is true."""
        end = time.monotonic() + SECONDS
        while not self.evaluate(f"Boolean({script})"):
            assert time.monotonic() < end, f"{script} did not become true; faults: {self.faults}"
            time.sleep(0.05)

    def press(self, *keys: str) -> None:
        """Press keys, by name or as letters of a text, where the focus is."""
        letters = [letter for key in keys for letter in ([KEYS[key]] if key in KEYS else key)]
        steps = [{"type": kind, "value": letter} for letter in letters for kind in ("keyDown", "keyUp")]
        self._send(
            "input.performActions", context=self._context, actions=[{"type": "key", "id": "keys", "actions": steps}]
        )

    def size(self, width: int, height: int) -> None:
        """Make the window so large."""
        viewport = {"width": width, "height": height}
        self._send("browsingContext.setViewport", context=self._context, viewport=viewport)

    def screenshot(self, file: Path) -> None:
        """Write what the window shows as a PNG."""
        file.write_bytes(
            base64.b64decode(self._send("browsingContext.captureScreenshot", context=self._context)["data"])
        )

    def close(self) -> None:
        """End the program."""
        self._send("browser.close")
        self._socket.close()

    def _send(self, method: str, **parameters: Any) -> Any:
        self._sent += 1
        self._socket.send(json.dumps({"id": self._sent, "method": method, "params": parameters}))
        while (answer := json.loads(self._socket.recv())).get("id") != self._sent:
            told = answer.get("params", {})
            if answer.get("method") == "network.beforeRequestSent":
                self.asked.append(told["request"]["url"])
            elif answer.get("method") == "log.entryAdded" and told["level"] == "error":
                self.faults.append(told["text"])
        if answer["type"] == "error":
            raise AssertionError(f"{method}: {answer['message']}")
        return answer["result"]


@contextmanager
def running(program: str, profile: Path, **preferences: object) -> Iterator[Firefox]:
    """A headless Firefox with a profile of its own."""
    lines = [
        f"user_pref({json.dumps(key)}, {json.dumps(value)});" for key, value in {**PREFERENCES, **preferences}.items()
    ]
    (profile / "user.js").write_text("\n".join(lines), encoding="utf-8")
    log = profile / "log.txt"
    command = [program, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            firefox = Firefox(_address(process, log))
            yield firefox
            firefox.close()
            process.wait(timeout=SECONDS)
        finally:
            process.kill()


def _address(process: subprocess.Popen, log: Path) -> str:
    end, said = time.monotonic() + SECONDS, "WebDriver BiDi listening on "
    while (
        said not in (text := log.read_text(encoding="utf-8", errors="replace")) or "\n" not in text.partition(said)[2]
    ):
        if process.poll() is not None or time.monotonic() > end:
            raise NotStarted(f"Firefox did not start:\n{text}")
        time.sleep(0.1)
    return text.partition(said)[2].splitlines()[0]


@pytest.fixture(scope="session")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    """A Firefox for all tests; skips where there is none that starts."""
    program = find_firefox()
    if not program:
        pytest.skip(NO_FIREFOX)
    try:
        with running(program, tmp_path_factory.mktemp("firefox")) as started:
            yield started
    except NotStarted as error:
        pytest.skip(str(error))
