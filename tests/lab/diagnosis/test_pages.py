"""The Python on the pages runs as it stands, and its thresholds are those that are used."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("page", ["diagnosis", "ties"])
def test_the_lines_of_a_page_run_and_print_what_it_shows(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(code, {})
    said, shown = capsys.readouterr().out.split(), re.findall(r"```python\n.*?```\n\n```\n(.*?)```", text, re.DOTALL)
    for line in " ".join(shown).replace("\n", " ").split("..."):
        assert " ".join(line.split()) in " ".join(said)


def test_the_page_gives_the_thresholds_that_are_used():
    from cselab_lab.diagnosis import SIGNS

    page = (ROOT / "docs" / "diagnosis.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| ([a-zN0 -]+) \| [^|]+ \| (?:above|below) ([\d.]+) \|", page, re.M))
    told["loss at log N"], told["loss at 0 from the start"]  # both are in the table
    assert {name: float(value) for name, value in told.items()} == {
        name: sign.threshold for name, sign in SIGNS.items()
    }
