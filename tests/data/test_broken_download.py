"""A process killed in the middle of a download from a local copy of the hub: the next one fetches what is missing."""

import hashlib
import os
import re
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from cselab.data.fetch import ARCHIVE, Unreachable, download

LINE = "a sentence of Wikipedia , " * 40_000
CONTENT = f"{LINE}\n".encode() * 24  # 25 MB: the hub's library writes 10 MB at a time
CUT = 15_000_000

FETCH = """
import sys
from dataclasses import replace
from cselab_lab.experiments.corpora import CORPORA, fetch_corpus
CORPORA["wiki1m"] = replace(CORPORA["wiki1m"], rows=24)
print(*fetch_corpus("wiki1m", sys.argv[1]))
"""


class Hub(BaseHTTPRequestHandler):
    """The corpus in the hub's layout. The first answer stops in the middle until it is told to end."""

    protocol_version = "HTTP/1.1"
    asked: list = []
    end = threading.Event()

    def head(self, start=0):
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(CONTENT) - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}")
        self.send_header("ETag", '"content"')
        self.send_header("X-Repo-Commit", ARCHIVE[1])
        self.end_headers()

    def do_HEAD(self):
        self.head()

    def do_GET(self):
        if self.path != f"/datasets/{ARCHIVE[0]}/resolve/{ARCHIVE[1]}/wiki1m_for_simcse.txt":
            self.send_error(404)
            return
        found = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
        start = int(found[1]) if found else 0
        self.asked.append(start)
        self.head(start)
        if len(self.asked) > 1:
            self.wfile.write(CONTENT[start:])
            return
        self.wfile.write(CONTENT[:CUT])
        self.end.wait(240)

    def log_message(self, *_):
        pass


@pytest.fixture
def hub():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    Hub.end.set()
    server.shutdown()
    server.server_close()


def test_a_killed_download_goes_on_where_it_was(hub, tmp_path):
    command = [sys.executable, "-c", FETCH, str(tmp_path / "data")]
    environment = {name: value for name, value in os.environ.items() if name not in ("HF_HUB_OFFLINE", "HF_HUB_CACHE")}
    environment |= {"HF_ENDPOINT": hub, "HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1"}
    first = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 240
    while not any(file.stat().st_size > 1_000_000 for file in tmp_path.rglob("*.part")):
        assert first.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    first.kill()
    first.communicate()
    assert not (tmp_path / "data").exists()
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.split()[-1] == "True", done.stderr
    assert (tmp_path / "data" / "wiki1m.txt").read_bytes() == CONTENT
    assert Hub.asked[0] == 0 < Hub.asked[1] <= CUT


def test_a_file_that_was_damaged_on_the_way_is_not_kept(tmp_path, monkeypatch):
    content, arriving = b"a sentence\n" * 1000, [b"damage", b""]

    def get(url, file, **_):
        file.write(arriving.pop(0) or content)

    about = SimpleNamespace(size=len(content), etag=hashlib.sha256(content).hexdigest())
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.get_hf_file_metadata", lambda _: about)
    monkeypatch.setattr("huggingface_hub.file_download.http_get", get)
    with pytest.raises(Unreachable, match="not that of the hub, whose SHA-256 begins with"):
        download("someone/set", "a" * 40, "t.txt")
    assert not list(tmp_path.rglob("*.part"))
    assert download("someone/set", "a" * 40, "t.txt").read_bytes() == content
