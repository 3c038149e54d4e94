import base64
import gzip
import html
import json
import re

import pytest
from cselab_lab.headless.page import loaded_from_outside
from cselab_widgets import EmbeddingMap, Sphere, ToyTraining
from cselab_widgets.kit.page import figure_to_html
from cselab_widgets.kit.static_export import packed
from cselab_widgets.panels.sentence_cosines import SentenceCosines

WORDS = {"summary": "a < b", "note": "a & b", "details": "<b>c</b>"}


def carried_in(html_piece: str) -> dict:
    piece = json.loads(re.search(r"var piece = (.*);\n", html_piece)[1])
    return json.loads(gzip.decompress(base64.b64decode(piece["packed"])))


def test_the_piece_holds_what_is_drawn_and_its_words():
    piece = figure_to_html(300, WORDS, {"packed": packed([1, 2])})
    assert carried_in(piece) == [1, 2]
    assert "<pre>a &lt; b</pre>" in piece and "a &amp; b" in piece and "<b>c</b>" in piece
    assert "min-height:300px" in piece


def test_plotly_js_is_not_in_the_piece_and_nothing_is_loaded(sentences, embeddings):
    piece = EmbeddingMap(sentences, {"a": embeddings})._repr_mimebundle_()["text/html"]
    assert len(piece) < 42_000
    assert loaded_from_outside(piece) == []


def test_a_sentence_cannot_close_the_script(embeddings):
    sentences = ["</script><b>bold</b>", "<!-- note", "c", "d", "e"]
    piece = EmbeddingMap(sentences, {"a": embeddings})._repr_mimebundle_()["text/html"]
    assert piece.count("</script>") == 1
    assert piece.endswith("</script>")
    texts = [html.unescape(part) for part in json.dumps(carried_in(piece), ensure_ascii=False).split('"')]
    assert set(sentences) <= set(texts)


@pytest.mark.parametrize("panel", [Sphere, ToyTraining, SentenceCosines])
def test_no_two_modules_of_a_panel_declare_the_same_name(panel):
    """They become one script, which a notebook then refuses."""
    declared = re.compile(r"^(?:export )?(?:async )?(?:function\*?|const|let|class) (\w+)", re.MULTILINE)
    names = [name for module in panel.modules for name in declared.findall(module.read_text(encoding="utf-8"))]
    assert [name for name in names if names.count(name) > 1] == []
