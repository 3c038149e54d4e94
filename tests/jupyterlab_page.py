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
from textwrap import dedent

import nbformat
import pytest
from browser import find_browser
from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

# A command of JupyterLab's notebook, at a cell; it ends when the cells have run.
COMMAND = """async ([at, command]) => {
    const { shell, commands } = window.jupyterapp;
    const { content, sessionContext } = shell.currentWidget;
    await sessionContext.ready;
    const number = typeof at === "string" ? content.widgets.findIndex((cell) => cell.model.id === at) : at;
    if (at !== null) content.activeCellIndex = number;
    await commands.execute("notebook:" + command);
}"""

# The kernel that runs already, if any, is emptied first, so that the page finds no panel of a closed notebook in it.
OPEN = """async ([path, emptying]) => {
    const { commands, serviceManager } = window.jupyterapp;
    await serviceManager.kernels.refreshRunning();
    const [kernel] = serviceManager.kernels.running();
    if (kernel) {
        const connected = serviceManager.kernels.connectTo({ model: kernel });
        await connected.requestExecute({ code: emptying, store_history: false }).done;
        connected.dispose();
    }
    const widget = await commands.execute("docmanager:open", { path, factory: "Notebook", kernel });
    await widget.sessionContext.ready;
}"""
EMPTY = """%reset -f
import os, ipywidgets
ipywidgets.Widget.close_all()
os.chdir("{}")
%reset -f"""
CLOSE = """() => {
    const notebook = window.jupyterapp.shell.currentWidget;
    notebook.context.model.dirty = false;  // otherwise a dialogue asks whether to save
    notebook.close();
}"""

# From the model, not from the page: JupyterLab draws a cell when it is scrolled to.
CELLS = """() => [...window.jupyterapp.shell.currentWidget.content.model.cells].filter(cell => cell.type === "code")
    .map(cell => ({ id: cell.id, count: cell.executionCount, outputs: cell.outputs.toJSON() }))"""

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
    "--process-per-site",  # pages of files share a process, which is started once
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
        stays = tmp_path_factory.mktemp("stays") / "page.html"  # open to the end, and the process with it
        stays.touch()
        context.pages[0].goto(stays.as_uri())
        yield context
        context.close()


@pytest.fixture
def page(browser) -> Iterator[Page]:
    """An empty page, thrown away afterwards: JupyterLab would ask whether to leave its unsaved notebook."""
    page = browser.new_page()
    yield page
    page.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a JupyterLab that serves the temporary folders of all tests; `{}` stands for a path."""
    home = tmp_path_factory.mktemp("jupyterlab")
    settings = home / "settings" / "@jupyterlab" / "apputils-extension"
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
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "JUPYTER_PATH": str(Path(__file__).parents[1] / "widgets" / "jupyter"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "IPYTHONDIR": str(home / "ipython"),
    }
    options = [
        "--no-browser",
        "--allow-root",
        "--expose-app-in-browser",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={tmp_path_factory.getbasetemp()}",
        f"--IdentityProvider.token={token}",
    ]
    log = home / "server.log"
    with log.open("w") as out:
        command = [sys.executable, "-m", "jupyterlab", *options]
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=out)
        try:
            _wait_until_it_listens(process, port, log)
            yield f"http://127.0.0.1:{port}/{{}}?token={token}"
        finally:
            process.terminate()  # it shuts its kernels down
            process.wait()


@pytest.fixture(scope="session")
def lab(browser: BrowserContext, server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A page with JupyterLab, for all tests of a process: to load it again costs as much as most of them.

    It stands in an empty folder: JupyterLab lists its folder again and again.
    """
    page = browser.new_page()
    page.goto(server.format(f"lab/workspaces/{secrets.token_hex(4)}/tree/{tmp_path_factory.mktemp('empty').name}"))
    yield page
    page.close()


@pytest.fixture
def open_notebook(lab: Page, tmp_path: Path) -> Iterator[Callable[..., None]]:
    """Open a notebook in JupyterLab; it lies in `tmp_path`, where its kernel starts. Closed after the test.

    The next notebook gets the same kernel, emptied, while that lives.
    """

    def opened(notebook: nbformat.NotebookNode) -> None:
        nbformat.write(notebook, tmp_path / "notebook.ipynb")
        # Restored, since JupyterLab may first move to another workspace by itself.
        lab.wait_for_function("() => window.jupyterapp?.restored.then(() => true)")
        lab.evaluate(OPEN, [f"{tmp_path.name}/notebook.ipynb", EMPTY.format(tmp_path)])

    yield opened
    lab.evaluate(CLOSE)


def of_cells(sources: list[str]) -> nbformat.NotebookNode:
    """A notebook of code cells."""
    cells = [nbformat.v4.new_code_cell(dedent(source).strip()) for source in sources]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def command(page: Page, name: str, at: str | int | None = None) -> None:
    """Give a command, at the cell of that id or number; returns when the cells have run."""
    page.evaluate(COMMAND, [at, name])


def red(page: Page) -> list[str]:
    """What a reader sees in red, with the cell it stands in."""
    return [
        f"{cell['id']}: {output.get('ename') or output['text']}"
        for cell in page.evaluate(CELLS)
        for output in cell["outputs"]
        if output["output_type"] == "error" or output.get("name") == "stderr"
    ]


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
