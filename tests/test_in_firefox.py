"""A page of panels opened by Firefox: its first controls are moved, and the panel must answer.

The page moves its controls itself and sends the result to the server that it came from; Chromium runs all other tests.
"""

import json
import subprocess
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from browser import find_firefox
from cselab_widgets import Sphere, ToyTraining
from cselab_widgets.kit.page import whole_page
from small_panels import PANELS

pytestmark = pytest.mark.browser

SECONDS = 80  # the longest wait: patience with a busy machine, not a pace to keep

MOVES = """<script>
const faults = [];
addEventListener("error", ({ message }) => faults.push(message));
const until = async (true_, what) => {
  for (let wait = 0; !true_(); wait++) {
    if (wait > 600) throw new Error(what);
    await new Promise((done) => setTimeout(done, 50));
  }
};
async function moved(panel) {
  const drawn = () => !panel.querySelector(".cselab-figure") || panel.querySelector(".main-svg");
  await until(drawn, "a figure is not drawn");
  const shown = () => {
    const copy = panel.cloneNode(true);
    for (const one of copy.querySelectorAll("label, input, select, button, output, .cselab-film")) one.remove();
    return copy.innerHTML;
  };
  const before = shown();
  const kinds = ['button:not(.cselab-save, [aria-selected="true"])', "input[type=range]", "select"];
  const [press, slider, list] = kinds.map((kind) => panel.querySelector(kind));
  press?.click();
  for (const one of press ? [] : [slider, list].filter(Boolean)) {
    if (one === slider) one.value = one.value === one.max ? one.min : one.max;
    else one.selectedIndex = (one.selectedIndex + 1) % one.options.length;
    for (const kind of ["input", "change"]) one.dispatchEvent(new Event(kind, { bubbles: true }));
  }
  if (press || slider || list) await until(() => shown() !== before, `no answer: ${before.slice(0, 200)}`);
  return Boolean(press || slider || list);
}
addEventListener("load", async () => {
  let answered = 0;
  try {
    for (const panel of document.querySelectorAll(".cselab-panel")) answered += await moved(panel);
  } catch (error) {
    faults.push(error.message);
  }
  await fetch("/", { method: "POST", body: JSON.stringify({ answered, faults }) });
});
</script>"""


def test_the_panels_of_a_page_answer_in_firefox(tmp_path):
    program = find_firefox()
    if not program:
        pytest.skip("no Firefox here")
    panels = [make(None)._html(answering=True) for make, _ in PANELS.values()]
    page = whole_page("\n".join([MOVES, Sphere()._html(), ToyTraining()._html(), *panels]), "panels").encode()
    found = {}

    class Serving(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(page)

        def do_POST(self):
            found.update(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    (tmp_path / "user.js").write_text('user_pref("network.proxy.type", 0);\n', encoding="utf-8")
    with HTTPServer(("127.0.0.1", 0), Serving) as server:
        server.timeout = SECONDS
        server.handle_timeout = lambda: pytest.skip(f"{program} asked for nothing within {SECONDS} seconds")
        command = [
            program,
            "--headless",
            "--no-remote",
            "--profile",
            str(tmp_path),
            f"http://127.0.0.1:{server.server_port}",
        ]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                while not found:
                    server.handle_request()
            finally:
                process.kill()
    assert found["faults"] == []
    assert found["answered"] >= len(PANELS)
