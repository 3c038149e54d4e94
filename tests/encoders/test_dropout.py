import pytest
import torch
from families import FAMILIES, make_backbone
from tiny import make_encoder, seeded
from transformers import AutoModel

from cselab.encoders.dropout import dropout_at, dropout_fields, dropout_places, set_dropout

OF_EACH = {
    "bert": {"hidden_dropout_prob", "attention_probs_dropout_prob"},
    "roberta": {"hidden_dropout_prob", "attention_probs_dropout_prob"},
    "distilbert": {"dropout", "attention_dropout"},
    "mpnet": {"hidden_dropout_prob", "attention_probs_dropout_prob"},
    "modernbert": {"attention_dropout", "embedding_dropout", "mlp_dropout"},
    "xlm-roberta": {"hidden_dropout_prob", "attention_probs_dropout_prob"},
    "t5": {"dropout_rate"},
    "llama": {"attention_dropout"},
    "qwen3": {"attention_dropout"},
    "gemma3": {"attention_dropout"},
}


def passes_differ(backbone):
    """Whether two passes of one batch in training mode give two results."""
    backbone.train()
    ids = torch.randint(5, 20, (3, 9), generator=seeded())
    one, two = (backbone(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state for _ in range(2))
    return not torch.equal(one, two)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_rate_is_set_in_every_place_of_every_family(family):
    """A rate is set in every place of every family and put back."""
    backbone = make_backbone(family, **dict.fromkeys(OF_EACH[family], 0.0))
    assert dropout_fields(backbone) == dict.fromkeys(OF_EACH[family], 0.0)
    assert set(dropout_places(backbone).values()) == {0.0} and not passes_differ(backbone)
    with dropout_at(backbone, 0.3):
        assert set(dropout_places(backbone).values()) == set(dropout_fields(backbone).values()) == {0.3}
        assert passes_differ(backbone)
    assert set(dropout_places(backbone).values()) == set(dropout_fields(backbone).values()) == {0.0}
    assert not passes_differ(backbone)
    set_dropout(backbone, 0.3)
    assert passes_differ(backbone)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_places_are_those_that_the_config_makes(family, tmp_path):
    """What is built with a rate has the same places as what got the rate afterwards, and a saved one keeps it."""
    built = make_backbone(family, **dict.fromkeys(OF_EACH[family], 0.25))
    given = make_backbone(family, **dict.fromkeys(OF_EACH[family], 0.0))
    set_dropout(given, 0.25)
    assert dropout_places(given) == dropout_places(built)
    given.save_pretrained(tmp_path)
    assert dropout_places(AutoModel.from_pretrained(tmp_path)).items() >= dropout_places(built).items()


def test_an_encoder_has_one_rate():
    encoder = make_encoder(dropout=0.1)
    assert encoder.dropout == 0.1
    encoder.dropout = 0.25
    assert encoder.dropout == 0.25 and encoder.backbone.config.hidden_dropout_prob == 0.25
    assert encoder.backbone.config.classifier_dropout is None
