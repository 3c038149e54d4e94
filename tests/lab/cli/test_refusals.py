"""Inputs that are wrong, damaged, empty, special or endless: one line of error, at once, and no traceback."""

import os
from pathlib import Path

import numpy as np
import pytest
from command_line import run
from cselab_lab import cli
from safetensors.numpy import save_file

pytestmark = pytest.mark.usefixtures("here")

MINE = """from cselab.methods import Contrastive, Method, register

@register("of_mine", "Of mine")
class OfMine(Contrastive):
    "SimCSE again."
"""
VIEWS = f"{MINE}    def views(self, *_):\n        return "
FILES = {
    "cut.safetensors": b'\x10\0\0\0\0\0\0\0{"a"',
    "text.npy": "hello",
    "pairs.tsv": "a dog\ta cat\t1\nthe sun\tthe moon\t2\nred\tblue\t4\n",
    "same.tsv": "a dog\ta cat\t1\nthe sun\tthe moon\t1\nred\tblue\t1\n",
    "pairs.txt": "a dog\na cat\nthe sun\nthe moon\n",
    "holes.csv": "id,text\n1,one\n2,\n3,three\n4, \n",
    "blank.txt": "\n  \n",
    "equal.txt": "the same sentence\n" * 64,
    "latin.txt": b"the caf\xe9 is open\n" * 64,
    "base.py": "class Mine(BaseException):\n    pass\n\n\nraise Mine('x')\n",
    "closed.py": "raise GeneratorExit",
    "syntax.py": "def views(:\n",
    "raises.py": "\nraise RuntimeError('not today')\n",
    "ends.py": "import sys\nsys.exit(0)",
    "mine.py": MINE.replace("Contrastive)", "Method)"),
    "none.py": f"{VIEWS}None\n",
    "fails.py": f"{VIEWS}_.no\n",
}
SHORT = {
    "TRAIN": "--encoder tiny --corpus corpus.txt --output run --batch-size 8 --steps 4 --dev none",
    "EXPLAIN": "explain-score micro --expected",
    "LONG": "a" * 300,
}
LINES = """
diagnose cut.safetensors | cut.safetensors is not a complete .safetensors file
diagnose text.npy | text.npy is not a complete .npy file
diagnose two.safetensors | two.safetensors holds 2 tensors (a, b); expected one
diagnose none.safetensors | holds 0 tensors (none)
diagnose '' | 'SUBJECT': it is empty
diagnose none.npy | none.npy: no such file
diagnose ~nosuchuser/x | ~nosuchuser/x: no such file or folder
search micro pairs.txt a '' | 'QUERY...': it is empty
search micro holes.csv a --column txt | it has no column 'txt'; its columns are id, text
words micro '' b | 'FIRST': it is empty
encode none/of.safetensors pairs.txt --output v.npy | none/of.safetensors: no such file
encode ~nosuchuser/x pairs.tsv --output v.npy | ~nosuchuser/x: no such file or folder
encode micro /proc/self/mem --output v.npy | /proc/self/mem cannot be read
encode micro holes.csv --output v.npy --column txt | it has no column 'txt'; its columns are id, text
encode micro holes.csv --output v.npy | holes.csv: 2 rows have no text (lines 3, 5)
encode micro pairs.txt --output v.csv | must end in .npy or .safetensors
ties '' | 'SCORES': it is empty
notebooks copy '' | 'DIR': it is empty
--code base.py methods | base.py, line 5: Mine: x
--code closed.py methods | closed.py, line 1: GeneratorExit
--code nowhere.py methods | no such file
--code corpus.txt methods | not a Python file
--code syntax.py methods | syntax.py, line 1: SyntaxError: invalid syntax
--code raises.py methods | raises.py, line 2: RuntimeError: not today
--code ends.py methods | ends.py, line 2: SystemExit: 0
--code mine.py train of_mine TRAIN | the method 'of_mine' has no views()
train of_mine TRAIN | cselab --code FILE
world pairs 10000000000000000000000000 | ask for at least 1, at most 10,000,000
world sentences 1000000000000 | ask for at least 1, at most 10,000,000
EXPLAIN 50 --task same.tsv | same.tsv gives no score: all its grades
EXPLAIN 0.5378 --task pairs.tsv | 0.5378 is a fraction, and scores are in points: give 53.78
EXPLAIN nan --task pairs.tsv | with a point and no %; got 'nan'
EXPLAIN 1e9 --task pairs.tsv | of points, -100 to 100, such as 60.73
EXPLAIN 53.78% --task pairs.tsv | with a point and no %; got '53.78%'
EXPLAIN 53,78 --task pairs.tsv | with a point and no %; got '53,78'
train simcse --corpus pairs.tsv --output '' | '--output': it is empty
train simcse TRAIN --output blocked | run.json.part blocks
train simcse TRAIN --output torn | saving.part blocks
train simcse TRAIN --set temprature=0.1 | simcse: unknown parameter 'temprature'. It has: variant, temperature
train simcse TRAIN --set temperature=hot | 'temperature' needs a float (its default is 0.05); got 'hot'
train focal TRAIN --set temperature=hot | 'temperature' must be float | None; got 'hot'
train simcse TRAIN --set temperature | --set must be NAME=VALUE, got 'temperature'
train simcse TRAIN --batch-size 65 | sentences in the corpus: 64, fewer than one batch of 65
train simcse TRAIN --steps 999999999999999999999999999999 | is not in the range 1<=x<=1000000000
train simcse TRAIN --epochs inf | '--epochs': inf is not in the range 0<x<=1000000
train simcse TRAIN --seeds 0-1000000000000 | is more than 1000 seeds
train simcse TRAIN --temperature 0.1 | : --set temperature=VALUE
train simcse TRAIN --recipe bundled | --recipe bundled is for mini, micro, not for
train simcse TRAIN --column text | is plain text with one sentence per line, without a column 'text'
train simcse TRAIN \udcff | Error: argument 15 is not UTF-8: '\\udcff'
train simcse TRAIN --corpus blank.txt | blank.txt | no sentence found
train simcse TRAIN --corpus equal.txt | different sentences in the corpus: 1 (of 64)
train simcse TRAIN --corpus latin.txt | latin.txt | line 1: byte 0xe9 is not utf-8
evaluate word-overlap --suite pairs.tsv --json fifo | cannot write fifo
evaluate tiny --suite sts --data data --representation head | this one has none
evaluate tiny --suite sts --data data --device cuda:99 | --device cuda:99: this machine has
evaluate tiny --suite sts --data data --fit world | --fit needs a transform: add --posthoc
evaluate tiny --posthoc 'without K' | 'without K': K must be a number of components, for example 'without 3'
evaluate tiny --suite sts --data data --suite nothere.tsv | nothere.tsv: no such file
evaluate prompted --suite ours.tsv --prompt-name passage | has ['query', 'document']
evaluate random --suite ours.tsv --prompt-name query | random has no prompts
evaluate static:./no | does not exist
data check sets | no data sets in sets
data check none | none is not a folder
data check LONG | cannot be used (File name too long)
data check | no data folder: give one (`data=`, `--data DIR`)
data fetch wiki2m . | Did you mean 'wiki1m'?
data fetch nli --task MR | --task names evaluation sets
""".strip().splitlines()
AFTER_A_START = """
--code none.py train of_mine TRAIN | none.py:
--code fails.py train of_mine TRAIN | fails.py, line 7: AttributeError:
train simcse TRAIN --dropout 0 | --dropout 0.1
""".strip().splitlines()


@pytest.mark.parametrize("line", LINES + AFTER_A_START)
def test_one_line_names_what_is_wrong(line):
    for name, content in FILES.items():
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    rows = np.zeros((3, 2), dtype=np.float32)
    save_file({"a": rows, "b": rows}, "two.safetensors")
    save_file({}, "none.safetensors")
    os.mkfifo("fifo")
    Path("blocked/run.json.part").mkdir(parents=True)
    for folder in ("torn", "sets/STS/STSBenchmark"):
        Path(folder).mkdir(parents=True)
    Path("torn/saving.part").touch()
    command, *words = line.split(" | ", 1 if "float | None" in line else -1)
    for name, text in SHORT.items():
        command = command.replace(name, text)
    said = run(command, ok=False, stream="stderr")
    assert all(word in said for word in words), said
    assert line in AFTER_A_START or not Path("run/run.json").exists()
    assert not Path("v.npy").exists()


def test_an_empty_standard_input_is_named():
    said = run("encode micro - --output v.npy", ok=False, input="")
    assert "- means standard input, which is empty" in said


def test_a_closed_standard_input_and_a_full_disk_are_named(monkeypatch, capsys):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    def said(line):
        with pytest.raises(SystemExit):
            cli.app(line.split())
        return capsys.readouterr().err

    monkeypatch.setattr("sys.stdin", None)
    assert "- means standard input, which is closed" in said("encode micro - --output v.npy")
    monkeypatch.setattr("click.echo", full)
    assert "No space left on device" in said("--version")
