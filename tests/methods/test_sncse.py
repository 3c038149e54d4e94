"""SNCSE: three prompted texts a row, and the sum of what its two parts say."""

import pytest
import torch
from tiny import make_encoder, make_rows

from cselab.methods import SNCSE, PromptBERT, SNCSEDropout
from cselab.training import TrainConfig, train

ROWS = [("the cat sees a dog", "the cat never sees a dog"), ("a bird", "this is never a bird")]
COLON, OF = 'This sentence : "{sentence}" means [MASK].', 'This sentence of "{sentence}" means [MASK].'


def test_the_anchor_stands_in_one_prompt_the_positive_and_the_denial_in_the_other(spied):
    method = SNCSE(head="none")
    encode, encoder = spied(method, dropout=0.0)
    v = method.views(encode, ROWS)
    said, denied = (list(column) for column in zip(*ROWS, strict=True))
    for found, texts, prompt in ((v.anchor, said, COLON), (v.positive, said, OF), (v.denial, denied, OF)):
        torch.testing.assert_close(found, encoder.pooled(encoder.tokenize(texts, template=prompt)))
    assert v.negatives is None and encoder.template == COLON


def test_its_views_are_promptberts_and_its_loss_sncse_dropouts(spied):
    method, prompts = SNCSE(denoise=True), PromptBERT(first=COLON, second=OF)
    encode, _ = spied(method, dropout=0.0)
    v = method.views(encode, ROWS)
    prompts.prepare(encode.encoder)
    expected = prompts.views(encode, [said for said, _ in ROWS])
    torch.testing.assert_close(v.anchor, expected.anchor)
    torch.testing.assert_close(v.positive, expected.positive)
    assert method.loss(v).floats() == SNCSEDropout().loss(v).floats()
    assert method.loss(v).terms.keys() == {"info_nce", "bidirectional_margin"}


def test_the_papers_weight_for_roberta_is_half_that_for_bert():
    assert SNCSE().weight == 1e-3 and SNCSE.recipe(make_encoder()).hyperparameters == {}
    recipe = SNCSE.recipe(make_encoder("roberta"))
    assert recipe.hyperparameters == {"weight": 5e-4} and (recipe.lr, recipe.batch_size) == (1e-5, 256)


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_the_trained_encoder_is_the_anchors(family):
    config = TrainConfig(steps=2, batch_size=8, lr=1e-3, precision="fp32")
    encoder = make_encoder(family, layers=1)
    run = train(encoder, SNCSE(), make_rows(SNCSE.columns, 16), config, show_progress_bar=False)
    assert run.encoder.pooling == "mask"
    assert run.encoder.template == COLON.replace("[MASK]", encoder.tokenizer.mask_token)
