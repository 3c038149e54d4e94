"""A real JupyterLab on the loopback and a real Chromium looking at it: fixtures for every test marked `browser`."""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from browser import find_browser
from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

SECONDS = 80  # the longest wait for any one thing: patience with a busy machine, not a pace to keep

# Quiet: nothing beyond the loopback is reached, and no first-run dialogue covers the page.
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--headless",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def browser(tmp_path_factory) -> Iterator[BrowserContext]:
    """A Chromium with a profile of its own."""
    expect.set_options(timeout=SECONDS * 1000)
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"),
            executable_path=find_browser(),
            args=CHROMIUM_FLAGS,
            viewport={"width": 1200, "height": 1600},
            timeout=SECONDS * 1000,
        )
        context.set_default_timeout(SECONDS * 1000)
        yield context
        context.close()


@pytest.fixture
def page(browser) -> Iterator[Page]:
    """An empty page, thrown away afterwards: JupyterLab would ask whether to leave its unsaved notebook."""
    page = browser.new_page()
    yield page
    page.close()


@pytest.fixture
def jupyterlab(tmp_path: Path) -> Iterator[Callable[[Path], str]]:
    """A JupyterLab serving `tmp_path`; called with a notebook in it, it gives the address to open that at."""
    settings = tmp_path / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    news = {"fetchNews": "false", "checkForUpdates": False}
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(news))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    found = [find_spec(name).origin for name in ("cselab", "cselab_widgets")]  # found, not imported: see conftest.py
    packages = [*(str(Path(origin).parents[1]) for origin in found), os.environ.get("PYTHONPATH")]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, packages)),
        "JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(tmp_path / "workspaces"),
        "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
        "IPYTHONDIR": str(tmp_path / "ipython"),
    }
    options = [
        "--no-browser",
        "--allow-root",
        "--expose-app-in-browser",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={tmp_path}",
        f"--IdentityProvider.token={token}",
    ]
    log = tmp_path / "server.log"
    with log.open("w") as out:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options], env=environment, stdout=out, stderr=out
        )

        def address(notebook: Path) -> str:
            _wait_until_it_listens(server, port, log)
            return f"http://127.0.0.1:{port}/lab/tree/{notebook.name}?token={token}"

        try:
            yield address  # while it starts, the browser may start too
        finally:
            server.terminate()  # it shuts its kernels down
            server.wait()


def _wait_until_it_listens(server: subprocess.Popen, port: int, log: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()}") from None
            time.sleep(0.1)
