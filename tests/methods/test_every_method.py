"""What all methods have in common. A method joins by being registered."""

import inspect
import json

import pytest
import torch
from tiny import FAMILIES, make_encoder, make_sentences
from torch.nn.functional import cosine_similarity, normalize

from cselab.losses import Loss
from cselab.methods import METHODS, Method, Views, create_method, get_method, register
from cselab.training import TrainConfig, train

VARIANTS = [(name, variant) for name in METHODS for variant in ("default", *METHODS[name].variants)]

every_method = pytest.mark.parametrize("name", METHODS)
every_variant = pytest.mark.parametrize(("name", "variant"), VARIANTS)


def margin(v):
    """How much more similar positives are than negatives, on average."""
    cosines = normalize(v.anchor, dim=1) @ normalize(v.positive, dim=1).T
    off_diagonal = cosines.sum() - cosines.trace()
    rows = len(cosines)
    return float(cosines.trace() / rows - off_diagonal / (rows * (rows - 1)))


@every_variant
def test_views_are_one_row_a_sentence_and_the_loss_is_a_sum_of_named_scalars(name, variant, table, batch):
    method = create_method(name, variant=variant)
    views = method.views(table(method), batch)
    assert isinstance(views, Views)
    assert {tuple(view.shape) for view in (views.anchor, *views.positives)} == {(12, 8)}
    loss = method.loss(views)
    assert isinstance(loss, Loss) and loss.total.ndim == 0 and loss.total.isfinite()
    assert sum(loss.floats().values()) == pytest.approx(loss.total.item(), rel=1e-6)


@every_variant
def test_the_gradient_reaches_the_encoder_and_the_head(name, variant, table, batch):
    method = create_method(name, variant=variant)
    encode = table(method)
    method.loss(method.views(encode, batch)).total.backward()
    for parameter in encode.parameters():
        assert (
            parameter.grad is not None and parameter.grad.isfinite().all() and parameter.grad.abs().max() > 0
        )
    assert (encode.vectors.grad.abs().sum(1) > 0).all()  # each sentence has its share


@every_variant
def test_a_few_steps_lower_the_loss_and_tell_positives_from_negatives(name, variant, table, batch):
    method = create_method(name, variant=variant)
    encode = table(method, noise=1.0)

    def measure():
        encode.replay()
        method.seed(0)
        if hasattr(encode.head, "whitening"):
            encode.head.whitening.generator.manual_seed(0)
        return method.views(encode, batch)

    with torch.no_grad():
        before = measure()
    optimizer = torch.optim.Adam(encode.parameters(), lr=0.02)
    for _ in range(30):
        optimizer.zero_grad()
        method.loss(measure()).total.backward()
        optimizer.step()
    with torch.no_grad():
        after = measure()
        assert method.loss(after).total < method.loss(before).total
    assert margin(after) > min(margin(before) + 0.1, 0.95)


@every_variant
def test_it_trains(name, variant):
    encoder = make_encoder(layers=1)
    before = encoder.weights_hash()
    config = TrainConfig(steps=3, batch_size=8, lr=1e-3, precision="fp32")
    run = train(
        encoder, create_method(name, variant=variant), make_sentences(24), config, show_progress_bar=False
    )
    assert [row["step"] for row in run.history] == [0, 1, 2, 3]
    assert run.encoder.weights_hash() != before
    assert torch.from_numpy(run.encoder.encode(["the cat sees a dog"])).isfinite().all()


@every_method
def test_without_a_head_the_loss_contrasts_the_sentence_vector_itself(name, trainer, batch):
    """But for what belongs to the method: the whitening of WhitenedCSE, noise."""
    method = create_method(name, head="none")
    encode, encoder = trainer(method, dropout=0.0)
    if name == "whitenedcse":
        assert encoder.head.mlp is None
        encoder.head.whitening.shuffle = False
        expected = encoder.head.whitening(encode(batch, head=False))
    else:
        assert encoder.head is None and "head" not in encoder.untrained
        expected = encode(batch, head=False)
    torch.testing.assert_close(method.views(encode, batch).anchor, expected)


@every_method
@pytest.mark.parametrize("family", FAMILIES)
def test_dropout_is_on_in_the_views_and_still_on_afterwards(name, family, trainer, batch):
    method = create_method(name)
    encode, encoder = trainer(method, family)
    views = method.views(encode, batch)
    assert all(part.training for part in encoder.modules())
    assert cosine_similarity(views.anchor, views.positive).max() < 0.9999


@every_method
def test_the_same_seed_gives_the_same_loss_and_its_state_goes_on_with_it(name, table, batch):
    options = {"noise": {"variance": 0.1}, "barlow_twins": {"artificial_rows": 4}}.get(name, {})
    method, twin, late = (create_method(name, **options) for _ in range(3))
    encoders = [table(each) for each in (method, twin, late)]
    first, same = (m.loss(m.views(e, batch)).floats() for m, e in zip((method, twin), encoders, strict=False))
    assert first == same
    late.load_state_dict(json_free(method.state_dict()))
    encoders[2].load_state_dict(encoders[0].state_dict())
    encoders[2].generator.set_state(encoders[0].generator.get_state())
    second, resumed = (
        m.loss(m.views(e, batch)).floats() for m, e in ((method, encoders[0]), (late, encoders[2]))
    )
    assert second == resumed
    assert second != first


def json_free(state):
    """The state as a checkpoint gives it back: through files, so without shared memory."""
    from cselab.storage.checkpoint import pack, unpack

    tensors, tree = pack("method", state)
    return unpack({name: tensor.clone() for name, tensor in tensors.items()}, json.loads(json.dumps(tree)))


@every_variant
def test_settings_are_json_and_make_the_same_method(name, variant):
    method = create_method(name, variant=variant)
    for _ in range(2):
        settings = json.loads(json.dumps(method.settings()))
        assert create_method(name, **settings).settings() == method.settings()
        method.prepare(make_encoder(layers=1))  # what it fills in is a setting too
    assert settings.keys() == {"variant", *method.parameters()}


@every_variant
def test_a_parameter_given_by_name_wins_over_its_variant(name, variant):
    cls = get_method(name)
    assert set(cls.variants.get(variant, {})) <= set(cls.parameters())
    for parameter, default in cls.parameters().items():
        assert getattr(cls(variant=variant, **{parameter: default}), parameter) == default


@every_method
def test_help_and_repr_show_the_parameters(name):
    cls = get_method(name)
    shown = inspect.signature(cls).parameters
    assert list(shown) == ["variant", *cls.parameters()]
    assert {key: shown[key].default for key in cls.parameters()} == cls.parameters()
    assert repr(cls()) == f"{cls.__name__}()"
    assert repr(cls(temperature=0.5)) == f"{cls.__name__}(temperature=0.5)"
    assert cls.name == name and cls.title and "See also" in cls.__doc__


@every_method
def test_an_unknown_parameter_or_variant_is_refused_with_the_allowed(name):
    cls = get_method(name)
    allowed = ", ".join(cls.parameters())
    with pytest.raises(ValueError, match=f"unknown parameter 'tau' of {name}; it has variant, {allowed}"):
        create_method(name, tau=0.05)
    with pytest.raises(ValueError, match=f"unknown variant 'mine' of {name}; choose one of default, "):
        create_method(name, variant="mine")


@pytest.mark.parametrize(
    ("name", "parameter", "value", "allowed"),
    [
        ("noise", "on", "positive", "'positives', 'negatives'"),
        ("imsimcse", "m_on", "positives", "'negatives', 'positive'"),
        ("imsimcse", "scale", "printed", "'released', 'paper'"),
        ("simcse", "head", "None", "'mlp', 'none'"),
        ("whitenedcse", "layout", "thirds", "'per_view', 'contiguous_thirds'"),
        ("whitenedcse", "reduction", "mean", "'outside', 'inside', 'inside_printed'"),
    ],
)
def test_an_unknown_choice_is_refused_with_the_allowed(name, parameter, value, allowed):
    with pytest.raises(ValueError, match=f"{parameter} of {name} is '{value}'; choose one of {allowed}"):
        create_method(name, **{parameter: value})


def test_an_unknown_method_lists_the_known():
    with pytest.raises(ValueError, match=f"unknown method 'simsce'; choose one of {', '.join(METHODS)}"):
        get_method("simsce")


def test_two_methods_cannot_have_one_name():
    with pytest.raises(AssertionError, match="two methods are called simcse"):

        @register("simcse", "Another")
        class Another(Method):
            """Never registered."""

    assert METHODS["simcse"].__name__ == "SimCSE"
