"""The exam: twenty questions, and solutions that run; students do not get the folder."""

import re

from cselab_lab.headless.notebook_folder import EXAM, bundled_notebooks, copy_notebooks

TEXT = (bundled_notebooks() / EXAM / "README.md").read_text(encoding="utf-8")


def test_the_exam_has_twenty_questions_and_its_solutions_hold():
    assert len(re.findall(r"^\| \d\d \| .+\? \| .+\. \|$|^\| \d\d \| .+ \| .+ \|$", TEXT, re.MULTILINE)) == 20
    (code,) = re.findall(r"```python\n(.+?)```", TEXT, re.DOTALL)
    exec(code, {})


def test_a_copy_has_no_exam_and_each_named_document(tmp_path):
    copy_notebooks(bundled_notebooks(), tmp_path / "work")
    assert not (tmp_path / "work" / EXAM).exists()
    for notebook in (tmp_path / "work").glob("*.ipynb"):
        for link in re.findall(r"\]\(((?:\.\./|docs/)[^)#]+)\)", notebook.read_text(encoding="utf-8")):
            assert (tmp_path / "work" / link).is_file(), (notebook.name, link)
