"""The examples of the pages on interfaces run as they stand, one after another in an empty folder."""

import re
from pathlib import Path

import huggingface_hub
import pytest
from huggingface_hub import HfApi

ROOT = Path(__file__).parents[2]
NEEDS = {
    "docs/sentence-transformers.md": ["datasets"],
    "docs/mteb.md": [],
    "docs/corpora.md": ["pyarrow"],
    "docs/scikit-learn.md": [],
    "docs/pandas.md": [],
    "docs/hub.md": [],
}
pytestmark = pytest.mark.filterwarnings("ignore")  # what their libraries say of this machine


def examples(text):
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


def run(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "example"}
    for part in example:
        exec(compile(part, "example", "exec"), names)
    return names


@pytest.mark.parametrize("page", NEEDS)
def test_the_examples_of_the_page_run(page, tmp_path, monkeypatch):
    for library in NEEDS[page]:
        pytest.importorskip(library)
    pushed = []
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: "hf_secret")
    monkeypatch.setattr(HfApi, "create_repo", lambda *_, **__: None)
    monkeypatch.setattr(huggingface_hub.ModelCard, "push_to_hub", lambda *_: None)  # asks the hub to check the card
    monkeypatch.setattr(HfApi, "upload_folder", lambda self, **options: pushed.append(options) or "address")
    names = run(examples((ROOT / page).read_text(encoding="utf-8")), tmp_path, monkeypatch)
    if "trainer" in names:
        assert any("eval_dev_effective_rank" in row for row in names["trainer"].state.log_history)
    assert bool(pushed) == (page == "docs/hub.md")


def test_each_page_of_docs_is_in_the_index():
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert [page for page in sorted(pages) if f"({page})" not in text] == []
