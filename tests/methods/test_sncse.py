"""SNCSE: three prompted texts a row, and the sum of what its two parts say."""

from torch.testing import assert_close

from cselab.methods import SNCSE, PromptBERT, SNCSEDropout

ROWS = [("the cat sees a dog", "the cat never sees a dog"), ("a bird", "this is never a bird")]
COLON, OF = 'This sentence : "{sentence}" means [MASK].', 'This sentence of "{sentence}" means [MASK].'


def test_the_anchor_stands_in_one_prompt_the_positive(viewed):
    """The anchor stands in one prompt the positive and the denial in the other."""
    method = SNCSE(head="none")
    v, _, encoder = viewed(method, ROWS)
    said, denied = (list(column) for column in zip(*ROWS, strict=True))
    for found, texts, prompt in ((v.anchor, said, COLON), (v.positive, said, OF), (v.denial, denied, OF)):
        assert_close(found, encoder.pooled(encoder.tokenize(texts, template=prompt)))
    assert v.negatives is None and encoder.template == COLON


def test_its_views_are_promptberts_and_its_loss_sncse_dropouts(viewed):
    method, prompts = SNCSE(denoise=True), PromptBERT(first=COLON, second=OF)
    v, encode, _ = viewed(method, ROWS)
    prompts.prepare(encode.encoder)
    expected = prompts.views(encode, [said for said, _ in ROWS])
    assert_close(v.anchor, expected.anchor)
    assert_close(v.positive, expected.positive)
    assert method.loss(v).floats() == SNCSEDropout().loss(v).floats()
    assert method.loss(v).terms.keys() == {"info_nce", "bidirectional_margin"}
