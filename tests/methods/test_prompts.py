"""Methods whose prompt is words or vectors: PromptBERT and DCPCSE."""

import pytest
import torch
from tiny import differing, make_encoder, make_sentences, short_run
from torch.testing import assert_close

from cselab.methods import DCPCSE, PromptBERT
from cselab.methods.promptbert import TEMPLATES

BATCH = make_sentences(6)


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_each_view_is_the_mask_of_a_prompt_less(viewed, family):
    """Each view is the mask of a prompt less that of the empty prompt around the gap."""
    method = PromptBERT(head="none")
    views, _, encoder = viewed(method, BATCH, family)
    mask = encoder.tokenizer.mask_token
    for text, vectors in zip((method.first, method.second), (views.anchor, views.positive), strict=True):
        prompt = text.replace("[MASK]", mask)
        full = encoder.tokenize(BATCH, template=prompt)
        raw = encoder.pooled(full)
        empty = encoder.tokenize([""], template=prompt)["input_ids"]
        before = encoder.tokenizer(prompt.split("{sentence}")[0], add_special_tokens=False)["input_ids"]
        begin = 1 + len(before)
        for row, sentence in enumerate(BATCH):
            length = len(encoder.tokenizer(sentence, add_special_tokens=False)["input_ids"])
            places = [*range(begin), *range(begin + length, empty.shape[1] + length)]
            first = 0 if family == "bert" else 2
            features = {"input_ids": empty, "attention_mask": torch.ones_like(empty)}
            features["position_ids"] = first + torch.tensor([places])
            assert_close(vectors[row], (raw[row] - encoder.pooled(features)[0]), atol=1e-5, rtol=1e-4)


def test_without_denoising_the_view_is_the_mask_itself(viewed):
    method = PromptBERT(denoise=False, head="none")
    views, encode, encoder = viewed(method, BATCH)
    assert_close(views.anchor, encoder.pooled(encoder.tokenize(BATCH)))
    assert len(encode.calls) == 2


def test_the_trained_encoder_takes_the_first_prompt():
    encoder = make_encoder("roberta", layers=1)
    run = short_run(PromptBERT(), encoder)
    assert run.encoder.pooling == "mask" and run.encoder.template == TEMPLATES[6].replace("[MASK]", "<mask>")


def test_the_sentence_has_its_tokens_and_the_prompt_comes_on_top(spied):
    method = PromptBERT()
    encode, encoder = spied(method)
    encode.encode.max_length = 8
    method.views(encode, [" ".join(["the cat sees"] * 9)] * 2)
    prompt = len(encoder.tokenizer("")["input_ids"])
    assert encode.calls[0][0][0]["input_ids"].shape[1] == prompt + 8


def test_all_templates_of_the_survey_work():
    for template in TEMPLATES:
        PromptBERT(first=template).prepare(make_encoder(layers=1))


def test_dcpcse_trains_the_prefix_and_leaves_the_backbone():
    encoder = make_encoder(layers=2)
    before = {name: value.clone() for name, value in encoder.backbone.state_dict().items()}
    plain = encoder.encode(BATCH)
    run = short_run(DCPCSE(length=4), encoder)
    assert not differing(run.encoder.backbone, before)
    assert all(weight.requires_grad for weight in run.encoder.backbone.parameters())
    assert run.encoder.prefix.keys.shape == (2, 2, 4, 4)
    assert abs(run.encoder.encode(BATCH) - plain).max() > 1e-3
    learnt = run.encoder.prefix.keys.detach().clone()
    again = short_run(DCPCSE(length=9), run.encoder)
    assert again.encoder.prefix.keys.shape == learnt.shape and not torch.equal(again.encoder.prefix.keys, learnt)
