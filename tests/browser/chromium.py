"""Headless Chromium, driven by its DevTools protocol over a pipe: real time, real input, any screen."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

CHROMIUM = shutil.which("chromium")
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


class Page:
    """A tab. `events` contains the events that it has reported so far."""

    def __init__(self, answers: BinaryIO, commands: BinaryIO) -> None:
        self._read, self._write = answers, commands
        self._number = 0
        self._session: dict[str, str] = {}
        self.events: list[dict[str, Any]] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        attached = self.send("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": attached["sessionId"]}
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **params: object) -> Any:
        """Call a method of the protocol and wait for its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params, **self._session}
        self._write.write(json.dumps(message).encode() + b"\0")
        self._write.flush()
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def _receive(self) -> dict[str, Any]:
        content = bytearray()
        while (byte := self._read.read(1)) != b"\0":
            assert byte, "chromium ended"
            content += byte
        message: dict[str, Any] = json.loads(content)
        if "method" in message:
            self.events.append(message)
        return message

    def open(self, address: str) -> None:
        """Go to an address; returns before it has loaded."""
        self.send("Page.navigate", url=address)

    def load(self, address: str) -> None:
        """Go to an address, and return when it has loaded."""
        before = len(self.events)
        self.open(address)
        while not any(e["method"] == "Page.loadEventFired" for e in self.events[before:]):
            self._receive()

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression, awaited if it is a promise."""
        done = self.send(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def press(self, key: str) -> None:
        """Press a key that types nothing."""
        codes = {"Tab": 9, "Enter": 13, "End": 35, "Home": 36, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}  # fmt: skip
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.send(
                "Input.dispatchKeyEvent",
                type=kind, key=key, code=key, windowsVirtualKeyCode=codes[key], **text,
            )  # fmt: skip

    def screen(self, width: int, height: int = 900, *, dark: bool = False) -> None:
        """Set the size of the screen in pixels, and the preferred colour scheme."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, path: Path) -> None:
        """Write the whole page as a PNG."""
        taken = self.send("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(taken["data"]))

    def console_messages(self) -> list[str]:
        """Every message on the console, and every exception."""
        found = {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"}
        return [json.dumps(e["params"]) for e in self.events if e["method"] in found]

    def requests(self) -> list[str]:
        """The addresses of all requests."""
        sent = "Network.requestWillBeSent"
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == sent]


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """A tab of a new browser, which ends with the block."""
    assert CHROMIUM
    (browser_in, commands_out), (answers_in, browser_out) = os.pipe(), os.pipe()
    # chromium reads from 3 and writes to 4
    script = f'exec "$@" 3<&{browser_in} 4>&{browser_out}'
    command = ["bash", "-c", script, "bash", CHROMIUM, *QUIET, f"--user-data-dir={profile}"]
    process = subprocess.Popen(
        [*command, "--remote-debugging-pipe", "about:blank"],
        pass_fds=(browser_in, browser_out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(browser_in)
    os.close(browser_out)
    with os.fdopen(answers_in, "rb") as answers, os.fdopen(commands_out, "wb") as commands:
        try:
            yield Page(answers, commands)
        finally:
            process.terminate()
            process.wait(30)
