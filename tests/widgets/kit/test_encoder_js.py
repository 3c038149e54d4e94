"""The encoder that a page computes, beside Python's: tokens and vectors, from a file that has no network."""

import json
import warnings
from base64 import b64encode

import pytest
import torch
from cselab_widgets.kit.carried_encoder import ENCODING, carried_encoders, weight_of
from cselab_widgets.kit.scripts import inlined
from numpy.testing import assert_allclose

from cselab.encoders.encoder import SentenceEncoder
from cselab.encoders.heads import MLPHead
from cselab.encoders.pooling import POOLINGS
from cselab.encoders.text import encodings
from cselab.world import World

ODD = [
    "don't—stop! It cost $5.00 (or 4,50 €), 'maybe'…",
    "Naïve façades, Ångström, ﬁne print, İstanbul, straße",
    "ΟΔΥΣΣΕΥΣ und Σίσυφος",
    "漢字とかな 한국어 русский العربية हिन्दी",
    "🙂 👩‍👩‍👧 x\u200by \u2028 tab\tnew\u00a0space",
    "the [MASK] of [CLS] and [mask] [UNK]",
    "qzxv jkqw " + "x" * 99 + " " + "y" * 101,
    "\u200b.",
    "word " * 300,
    "a" * 20_000 + " end",
    "9" * 5_000,
    "...",
]
TYPED = ODD + [sentence.text for sentence in World(0).sentences(200 - len(ODD), split="test")]

COMPUTED = """async (texts) => {
    const encoders = await readEncoders(carried);
    return encoders.map((encoder) => encodeTexts(encoder, texts).map((one) => ({ ...one, vector: [...one.vector] })));
}"""


@pytest.fixture(scope="module")
def micro():
    return SentenceEncoder("micro")


@pytest.fixture
def computed(browser, tmp_path):
    """What a page, opened as a file without a network, computes of texts: by encoder, by text."""
    page = browser.new_page()

    def compute(encoders, sentences):
        carried = json.dumps(carried_encoders(encoders), default=lambda given: b64encode(given).decode())
        file = tmp_path / "page.html"
        file.write_text(f"<script>{inlined(ENCODING)}\nconst carried = {carried};</script>", encoding="utf-8")
        browser.set_offline(True)
        page.goto(file.as_uri())
        return page.evaluate(COMPUTED, sentences)

    yield compute
    page.close()
    browser.set_offline(False)


def nudged(encoder, by=0.006, head=False):
    """A copy whose weights were changed about as far as a short training changes them."""
    changed, draw = encoder.copy(), torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, weight in changed.backbone.named_parameters():
            weight = weight[:2000] if "word" in name else weight  # a corpus has not all words
            weight += by * (2 * torch.rand(weight.shape, generator=draw) - 1)
    if head:
        changed.attach_head(MLPHead(changed.hidden_size, draw))
        changed.untrained.clear()
        changed.representation = "head"
    return changed


def agree(found, encoder, sentences):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ids = [one.ids for one in encodings(encoder.tokenizer, sentences, encoder.max_length)]
        vectors = encoder.encode(sentences)
    assert [one["ids"] for one in found] == ids
    assert_allclose([one["vector"] for one in found], vectors, atol=1e-3, rtol=0)


@pytest.mark.browser
@pytest.mark.daily
def test_two_hundred_sentences_have_pythons_tokens(computed, micro):
    """Two hundred sentences have pythons tokens and vectors before and after training."""
    assert len(set(TYPED)) == len(TYPED) == 200
    after = nudged(micro)
    for found, encoder in zip(computed({"plain": micro, "trained": after}, TYPED), (micro, after), strict=True):
        agree(found, encoder, TYPED)


@pytest.mark.browser
def test_mini_whose_cls_is_taken_and_a_trained_encoder(computed, micro):
    """Mini whose cls is taken and a trained encoder that travels with another."""
    encoders = {"trained": nudged(micro), "mini": SentenceEncoder("mini", pooling="cls")}
    sentences = TYPED[::8]
    for found, encoder in zip(computed(encoders, sentences), encoders.values(), strict=True):
        agree(found, encoder, sentences)


@pytest.mark.browser
@pytest.mark.filterwarnings("ignore::cselab.encoders.encoder.UnknownTokensWarning")  # of the odd sentences
def test_every_pooling_a_head_a_prompt_a_cut_and_length_one(computed, micro):
    kinds = {name: micro.copy() for name in POOLINGS if name != "mask"}
    for name, encoder in kinds.items():
        encoder.pooling = name
    kinds["head"] = nudged(micro, head=True)
    special = kinds["special"] = micro.copy()
    special.normalize, special.truncate_dim, special.max_length = True, 40, 9
    special.prompts, special.default_prompt_name = {"query": "Find: "}, "query"
    sentences = [*ODD[:5], *TYPED[-4:]]
    for found, encoder in zip(computed(kinds, sentences), kinds.values(), strict=True):
        if encoder is not special:
            agree(found, encoder, sentences)
            continue
        with pytest.warns(UserWarning, match="were cut at 9 tokens"):
            vectors = encoder.encode(sentences)
        assert_allclose([one["vector"] for one in found], vectors, atol=1e-3)


@pytest.mark.browser
def test_characters_are_kept_dropped_and_set_apart(page, micro):
    """Characters are kept dropped and set apart as tokenizers does."""
    blocks = [(0, 0x600), (0x1E00, 0x2500), (0x3000, 0x3100), (0xF900, 0xFB00), (0xFE00, 0x10000), (0x1F600, 0x1F650)]
    texts = [f"a{chr(code)}B" for first, last in blocks for code in range(first, last)]
    page.add_script_tag(content=inlined(ENCODING))
    library = micro.tokenizer.backend_tokenizer
    expected = [
        [word for word, _ in library.pre_tokenizer.pre_tokenize_str(library.normalizer.normalize_str(text))]
        for text in texts
    ]
    assert page.evaluate("(texts) => texts.map(wordsOf)", texts) == expected


@pytest.mark.browser
def test_what_is_not_read_is_said(computed, micro):
    (found,) = computed({"micro": micro}, ["a 漢 b", "cat " * 200, "a cat", "x" * 101])
    assert [one["unknown"] for one in found] == [["漢"], [], [], ["x" * 101]]
    assert [one["lost"] for one in found] == [0, 200 - 126, 0, 0]


# ---------------------------------------------------------------------------------------------- in Python


def test_what_was_trained_from_the_first_is_carried(micro):
    """What was trained from the first is carried as its change and others whole."""
    alone = weight_of(carried_encoders({"plain": micro}))
    carried = carried_encoders({"plain": micro, "cls": micro, "trained": nudged(micro)})
    assert [one["base"] for one in carried["encoders"]] == [0, 0, 0]
    assert [bool(one["change"]) for one in carried["encoders"]] == [False, False, True]
    assert alone < 3_500_000 and weight_of(carried) < 1.5 * alone
    far = carried_encoders({"plain": micro, "other": nudged(micro, by=0.3)})
    assert [one["base"] for one in far["encoders"]] == [0, 1]


def test_an_encoder_that_the_page_does_not_compute_is_refused(micro):
    with pytest.raises(TypeError, match="mine is str; the page computes a SentenceEncoder"):
        carried_encoders({"mine": "micro"})
    prompted = micro.copy()
    prompted.use_prompt('"{sentence}" means [MASK].')
    with pytest.raises(ValueError, match="mine cannot be computed in the page: expected one without a prompt"):
        carried_encoders({"mine": prompted})
    other = micro.copy()
    other.backbone.config.hidden_act = "relu"
    with pytest.raises(ValueError, match="mine cannot be computed in the page: expected a BERT with gelu"):
        carried_encoders({"mine": other})


def test_a_page_that_would_be_too_heavy_is_refused(micro, monkeypatch):
    monkeypatch.setattr("cselab_widgets.kit.carried_encoder.HEAVIEST", 3_000_000)
    with pytest.raises(
        ValueError, match="a page with micro would have 3 MB or more; the limit is 20 MB: use small encoders"
    ):
        carried_encoders({"micro": micro})
