import html
import json
import re

from cselab_widgets import EmbeddingMap
from cselab_widgets.kit.page import figure_to_html


def figure_in(piece: str) -> dict:
    return json.loads(re.search(r"var figure = (.*);\n", piece)[1])


def test_the_piece_holds_the_figure_and_the_summary():
    figure = {"data": [{"x": [1, 2]}], "layout": {"height": 300}}
    piece = figure_to_html(figure, "a < b")
    assert figure_in(piece) == figure
    assert "<pre>a &lt; b</pre>" in piece
    assert "min-height:300px" in piece


def test_the_same_figure_gives_the_same_piece_and_another_a_piece_of_its_own():
    def name(height):
        piece = figure_to_html({"data": [], "layout": {"height": height}}, "")
        return re.search(r'data-cselab-figure="(\w+)"', piece)[1]

    assert name(300) == name(300) != name(301)


def test_plotly_js_is_not_in_the_piece_and_nothing_is_loaded(sentences, embeddings):
    piece = EmbeddingMap(sentences, {"a": embeddings})._repr_mimebundle_()["text/html"]
    assert len(piece) < 20_000
    assert "http" not in piece


def test_a_sentence_cannot_close_the_script(embeddings):
    sentences = ["</script><b>bold</b>", "<!-- note", "c", "d", "e"]
    piece = EmbeddingMap(sentences, {"a": embeddings})._repr_mimebundle_()["text/html"]
    assert piece.count("</script>") == 1
    assert piece.endswith("</script>")
    texts = [text for _, text in figure_in(piece)["data"][0]["customdata"]]
    assert [html.unescape(text) for text in texts] == sentences
