"""Nothing reaches out unless a name of the hub is given: every connection of every command is watched."""

import os
import re
import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from tiny import make_sentences, write_checkpoint

pytestmark = pytest.mark.slow

# Each process that starts writes down whom it would reach and is then refused; its own machine it may reach.
WATCH = """
import os, socket
def write_down(host):
    if host not in ("localhost", "127.0.0.1", "::1", "", None):
        with open(os.environ["WATCHED"], "a") as file:
            file.write(f"{host}\\n")
        raise OSError(101, "Network is unreachable")
connect, ask = socket.socket.connect, socket.getaddrinfo
def watched_connect(self, address):
    if self.family in (socket.AF_INET, socket.AF_INET6):
        write_down(address[0])
    return connect(self, address)
def watched_ask(host, *arguments, **options):
    write_down(host.decode() if isinstance(host, bytes) else host)
    return ask(host, *arguments, **options)
socket.socket.connect, socket.getaddrinfo = watched_connect, watched_ask
"""

COMMANDS = """
train simcse --encoder encoder --corpus corpus.txt --output run --batch-size 8 --steps 2
evaluate run --suite pairs.tsv
compare run encoder --suite pairs.tsv
encode run corpus.txt --output vectors.npy
search run corpus.txt cat
methods whitenedcse
published whitenedcse 1
experiment list
notebooks list
notebooks run --folder notebooks --output out
world sentences 3
doctor
""".strip().splitlines()
OF_THE_HUB = "evaluate someone/their-encoder --suite pairs.tsv"

RUN = """
import sys
from cselab_lab.cli import app
for line in sys.stdin.read().splitlines():
    try:
        app(line.split())
    except SystemExit as ended:
        with open("watched.txt", "a") as watched:
            watched.write(f"ended with {ended.code}: {line}\\n")
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """By line its exit code, and whom it reached for; all in a process of their own."""
    tmp_path = tmp_path_factory.mktemp("watched")
    write_checkpoint(tmp_path / "encoder", layers=1)
    sentences = make_sentences(64)
    (tmp_path / "corpus.txt").write_text("\n".join(sentences) + "\n")
    pairs = zip(sentences[::2], sentences[1::2], strict=True)
    (tmp_path / "pairs.tsv").write_text("".join(f"{a}\t{b}\t{row % 6}\n" for row, (a, b) in enumerate(pairs)))
    (tmp_path / "notebooks").mkdir()
    cells = [
        new_code_cell("size = 3", metadata={"tags": ["parameters"]}),
        new_code_cell("from cselab import SentenceEncoder\nSentenceEncoder.from_pretrained('micro').encode('a cat')"),
    ]
    nbformat.write(new_notebook(cells=cells), tmp_path / "notebooks" / "00_one.ipynb")
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "sitecustomize.py").write_text(WATCH)
    watched = tmp_path / "watched.txt"
    path = os.pathsep.join(part for part in (str(tmp_path / "watch"), os.environ.get("PYTHONPATH", "")) if part)
    environment = {name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"}
    environment |= {"PYTHONPATH": path, "WATCHED": str(watched), "CSELAB_DATA": "", "CSELAB_HEADLESS": "1"}
    environment |= {"HF_HOME": str(tmp_path / "hub")}
    done = subprocess.run(
        [sys.executable, "-c", RUN], input="\n".join([*COMMANDS, OF_THE_HUB]), cwd=tmp_path, env=environment,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told, hosts = {}, []
    for one in watched.read_text().splitlines():
        if ended := re.fullmatch(r"ended with (\d+): (.+)", one):
            told[ended[2]], hosts = (ended[1], hosts), []
        else:
            hosts.append(one)
    return told


def test_no_command_reaches_out(told):
    assert {line: told[line] for line in COMMANDS} == dict.fromkeys(COMMANDS, ("0", []))


def test_a_name_of_the_hub_does(told):
    code, reached = told[OF_THE_HUB]
    assert code == "1" and "huggingface.co" in reached
