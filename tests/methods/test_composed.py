"""Two methods in one are the sum of what each adds, and nothing of one is lost in the other."""

import pytest

from cselab.methods import create_method


@pytest.mark.parametrize(
    "name, terms",
    [
        ("mixcse_diffcse", {"info_nce", "replaced_tokens"}),
        ("imsimcse_diffcse", {"off_dropout_info_nce", "dimension_contrastive", "replaced_tokens"}),
        ("focal_diffcse", {"focal_info_nce", "replaced_tokens"}),
        ("imsimcse_dclr", {"off_dropout_info_nce", "dimension_contrastive"}),
        ("focal_dclr", {"focal_info_nce"}),
    ],
)
def test_the_terms_are_those_of_both(name, terms, trainer, batch):
    method = create_method(name)
    encode, _ = trainer(method)
    assert method.loss(method.views(encode, batch)).terms.keys() == terms


def test_mixed_negatives_and_the_second_network_are_both_there(trainer, batch):
    for variant in ("paper", "released"):
        method = create_method("mixcse_diffcse", variant=variant)
        encode, _ = trainer(method)
        v = method.views(encode, batch)
        mixed = create_method("mixcse", variant=variant).loss(v).total
        assert method.loss(v).floats()["info_nce"] == pytest.approx(mixed.item())
        assert (v.negatives is None) == (variant == "released")
    assert method.settings().keys() >= {"share", "appended", "masked", "fill"}
