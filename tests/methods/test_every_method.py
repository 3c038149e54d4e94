"""What all methods have in common. A method joins by being registered."""

import copy
import inspect
import json
from functools import partial

import pytest
import torch
from tiny import FAMILIES, family_for, make_encoder, make_rows
from torch.nn.functional import cosine_similarity, normalize
from torch.testing import assert_close
from transformers import BertConfig, RobertaConfig

from cselab.encoders.speed import bucket_by_length
from cselab.methods import FAMILIES as GROUPS
from cselab.methods import METHODS, Method, create_method, get_method, register

VARIANTS = [(name, variant) for name in METHODS for variant in ("default", *METHODS[name].variants)]

WITHOUT_NOISE = ("ct",)  # nothing is drawn: no dropout, no augmentation
CONTRAST_ALONE = {  # without what hides the contrast in thirty steps on one batch
    "noise": {"variance": 1e-4},
    "pt_bert": {"queue": 0},
    "declutr": {"weight": 0.0},
    "mocose": {"momentum": 0.9},  # where the target follows faster, sixty steps are needed
    "sg_opt": {"weight": 0.0, "temperature": 0.05},
}
RATES = {"low", "middle", "high"}  # of dropout, which a method sets by itself
ALL_TOKENS = ("pt_bert",)  # reads the states of all tokens, padding among them: one pass
SOME_ROWS = ("cline", "sncse")  # of their negatives: without an antonym, or already far enough away

CONFIGS = {"bert": BertConfig(hidden_size=8), "roberta": RobertaConfig(hidden_size=8)}
DIFFERENT = [  # the others are the default by another name
    (name, variant)
    for name, variant in VARIANTS
    if variant == "default" or METHODS[name].changes(variant, CONFIGS[family_for(name)])
]

every_method = pytest.mark.parametrize("name", METHODS)
every_variant = pytest.mark.parametrize("name, variant", VARIANTS)
every_different_variant = pytest.mark.parametrize("name, variant", DIFFERENT)


def margin(v):
    """How much more similar positives are than negatives, on average."""
    cosines = normalize(v.anchor, dim=1) @ normalize(v.positive, dim=1).T
    off_diagonal = cosines.sum() - cosines.trace()
    rows = len(cosines)
    return float(cosines.trace() / rows - off_diagonal / (rows * (rows - 1)))


def make(name, variant="default", **options):
    """The method; with a length or a queue that suits 12 small vectors, unless the variant sets it."""
    return create_method(name, variant=variant, **small(name, variant) | options)


def small(name, variant):
    cls = get_method(name)
    return {key: value for key, value in cls.small.items() if key not in cls.variants.get(variant, {})}


def states_of(backbone):
    """A list that gets the states [n, tokens, d] of each pass of a backbone, which keep their gradient."""
    states = []

    def keep(_, __, output):
        if output.last_hidden_state.requires_grad:
            output.last_hidden_state.retain_grad()
            states.append(output.last_hidden_state)

    backbone.register_forward_hook(keep)
    return states


def learning(encoder, method):
    return [weight for group in method.groups(encoder) for weight in group["params"]]


@every_different_variant
def test_views_are_one_row_a_sentence_and_the_gradient_reaches(name, variant, trainer):
    """Views are one row a sentence and the gradient reaches the encoder and whatever else learns."""
    method = make(name, variant)
    encode, encoder = trainer(method, dropout=0.1)
    states = states_of(encoder.backbone)
    views = method.views(encode, make_rows(method.columns, 12))
    width = getattr(method, "width", 8)  # of a head that projects
    rows = 12 * getattr(method, "anchors", 1)  # of each sentence, or document
    assert {tuple(view.shape) for view in (views.anchor, *views.positives)} == {(rows, width)}
    method.loss(views).total.backward()
    shares = [state.grad.flatten(1).abs().sum(1) for state in states if state.grad is not None]
    assert shares and all((share > 0).any() for share in shares)
    assert name in SOME_ROWS or all((share > 0).all() for share in shares)  # each sentence has its share
    named = [*encoder.named_parameters(), *method.named_parameters()]
    for key, weight in named:
        if weight.requires_grad and "pooler.dense" not in key:
            assert weight.grad is not None and weight.grad.isfinite().all(), key
    moved = {key for key, weight in named if weight.grad is not None and weight.grad.abs().max() > 0}
    assert any(key in moved for key, _ in encoder.named_parameters() if not key.startswith("head."))
    if encoder.head is not None:
        assert {f"head.{key}" for key, weight in encoder.head.named_parameters() if weight.ndim == 2} <= moved


@every_different_variant
def test_buckets_by_length_have_the_loss(name, variant, trainer, monkeypatch):
    """A part for every length that there is, beside one for all rows; in float64, where nothing is rounded away."""
    found, passes = [], []
    for overhead in (0, float("inf")):
        monkeypatch.setattr(
            "cselab.encoders.training_forward.bucket_by_length", partial(bucket_by_length, overhead=overhead)
        )
        method = make(name, variant, **dict.fromkeys(RATES & METHODS[name].hyperparameters().keys(), 0.0))
        encode, encoder = trainer(method, dropout=0.0)
        encoder.double()
        method.double()
        states = states_of(encoder.backbone)
        loss = method.loss(method.views(encode, make_rows(method.columns, 12))).total
        passes.append(len(states))
        loss.backward()
        named = [*encoder.named_parameters(), *method.named_parameters()]
        found.append((loss, {key: weight.grad for key, weight in named if weight.grad is not None}))
    assert passes[0] > passes[1] or name in ALL_TOKENS
    (loss, gradients), (whole, wanted) = found
    assert_close(loss, whole, rtol=0, atol=1e-6)
    assert gradients.keys() == wanted.keys()
    for key, gradient in gradients.items():
        assert_close(gradient, wanted[key], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["simcse", "imsimcse", "focal", "barlow_twins", "noise", "whitenedcse"])
def test_without_a_head_the_sentence_vector_is_contrasted(name, trainer):
    """But for what belongs to the method: the whitening of WhitenedCSE."""
    batch = make_rows(("sentence",), 12)
    method = make(name, head="none")
    encode, encoder = trainer(method, dropout=0.0)
    if name == "whitenedcse":
        assert encoder.head.mlp is None
        encoder.head.whitening.shuffle = False
        expected = encoder.head.whitening(encode(batch, head=False))
    else:
        assert encoder.head is None and "head" not in encoder.untrained
        expected = encode(batch, head=False)
    assert_close(method.views(encode, batch).anchor, expected)


@every_different_variant
def test_a_few_steps_lower_the_loss_and_tell_positives(name, variant, trainer):
    """A few steps lower the loss and tell positives from negatives."""
    if not get_method(name).negatives_in_batch:
        pytest.skip("its negatives are not the other sentences of the batch")
    method = make(name, variant, **CONTRAST_ALONE.get(name, {}))
    encode, encoder = trainer(method, dropout=0.3)
    batch = make_rows(method.columns, 12)
    start = copy.deepcopy(method.state_dict()), copy.deepcopy(encoder.state_dict())

    def measure():
        torch.default_generator.manual_seed(1)  # of the CPU alone: quicker
        method.generator.manual_seed(1)
        if hasattr(encoder.head, "whitening"):
            encoder.head.whitening.generator.manual_seed(0)
        return method.views(encode, batch)

    with torch.no_grad():
        before = measure()
        loss_before = method.loss(before).total
    method.load_state_dict(start[0])
    encoder.load_state_dict(start[1])
    optimizer = torch.optim.Adam(learning(encoder, method), lr=0.01, fused=True)
    for _ in range(30):
        optimizer.zero_grad()
        method.loss(measure()).total.backward()
        optimizer.step()
    with torch.no_grad():
        after = measure()
        assert method.loss(after).total < loss_before
    gained = 0.05 if name == "ct" else 0.1  # dot products: slower
    assert margin(after) > min(margin(before) + gained, 0.95)


@pytest.mark.parametrize(
    "name, family",
    [(name, family) for name in METHODS for family in FAMILIES if family in (family_for(name), "roberta")],
)
def test_dropout_makes_each_pair_of_views_differ(name, family, viewed):
    """Dropout makes each pair of views differ and is still on afterwards."""
    method = make(name)
    views, _, encoder = viewed(method, make_rows(method.columns, 12), family, dropout=0.5)
    assert all(part.training for part in encoder.modules())
    cosines = cosine_similarity(views.anchor, views.positive)
    if name not in WITHOUT_NOISE:
        head = encoder.head.modules() if encoder.head else ()
        one_left = any(isinstance(part, torch.nn.ReLU) for part in head)  # of eight channels: views then point alike
        assert (cosines.median() if one_left else cosines.max()) < 0.9999


@every_method
def test_the_same_seed_gives_the_same_losses(name, trainer):
    """The same seed gives the same losses and its state goes on with it."""
    options = {"barlow_twins": {"artificial_rows": 4}}.get(name, {})

    def step(method, encode, batch, seed):
        torch.manual_seed(seed)
        return method.loss(method.views(encode, batch)).floats()

    made = []
    for _ in range(3):
        method = make(name, **options)
        made.append((method, *trainer(method)))
    (method, encode, encoder), (twin, twin_encode, _), (late, late_encode, late_encoder) = made
    batch = make_rows(method.columns, 12)
    first = step(method, encode, batch, 1)
    assert first == step(twin, twin_encode, batch, 1)
    late.load_state_dict(json_free(method.state_dict()))
    late_encoder.load_state_dict(json_free(encoder.state_dict()))
    second = step(method, encode, batch, 2)
    assert second == step(late, late_encode, batch, 2)
    assert second != first or name in WITHOUT_NOISE


def json_free(state):
    """The state as a checkpoint gives it back: through files, so without shared memory."""
    from cselab.encoders.checkpoint import pack, unpack

    tensors, tree = pack("method", state)
    return unpack({name: tensor.clone() for name, tensor in tensors.items()}, json.loads(json.dumps(tree)))


@every_variant
def test_settings_are_json_and_make_the_same_method(name, variant):
    method = make(name, variant)
    for _ in range(2):
        settings = json.loads(json.dumps(method.settings()))
        assert create_method(name, **settings).settings() == method.settings()
        method.prepare(make_encoder(family_for(name), layers=1))  # what it fills in is a setting too
    assert settings.keys() == {"variant", *method.hyperparameters()}


@every_variant
def test_a_parameter_given_by_name_wins_over_its_variant(name, variant):
    cls = get_method(name)
    assert set(cls.variants.get(variant, {})) <= set(cls.hyperparameters())
    for parameter, default in cls.hyperparameters().items():
        assert getattr(cls(variant=variant, **{parameter: default}), parameter) == default


@every_method
def test_help_and_repr_show_the_parameters(name):
    cls = get_method(name)
    shown = inspect.signature(cls).parameters
    assert list(shown) == ["variant", *cls.hyperparameters()]
    assert {key: shown[key].default for key in cls.hyperparameters()} == cls.hyperparameters()
    assert repr(cls()) == f"{cls.__name__}()"
    other = {"head": "backbone", "backbone": "head"}[cls.representation]
    assert repr(cls(representation=other)) == f"{cls.__name__}(representation={other!r})"
    assert cls.name == name and cls.title
    assert "See also" in cls.__doc__, f"the docstring of {cls.__name__} names no related method after 'See also:'"
    assert cls.family in set(GROUPS) - {"own"}


@every_method
def test_an_unknown_parameter_or_variant_is_refused(name):
    """An unknown parameter or variant is refused with the allowed."""
    cls = get_method(name)
    allowed = ", ".join(cls.hyperparameters())
    with pytest.raises(ValueError, match=f"unknown hyper-parameter of {name} 'tau'.* Choose one of variant, {allowed}"):
        create_method(name, tau=0.05)
    with pytest.raises(ValueError, match=f"unknown variant of {name} 'mine'.* Choose one of default"):
        create_method(name, variant="mine")
    with pytest.raises(ValueError, match=rf"Choose one of .*\b{name}\b"):
        get_method("xyz")


def test_an_unknown_family_is_refused_with_the_known():
    with pytest.raises(ValueError, match=r"unknown family of misfiled 'losses'\. Did you mean 'loss'\?"):

        @register("misfiled", "Misfiled")
        class Misfiled(Method):
            family = "losses"

    assert "misfiled" not in METHODS


def test_two_methods_cannot_have_one_name():
    """Two methods cannot have one name but a cell may be run twice."""
    with pytest.raises(ValueError, match=r"two methods are called 'simcse': cselab\.methods\.simcse\.SimCSE is"):

        @register("simcse", "Another")
        class Another(Method):
            """Never registered."""

    assert METHODS["simcse"].__name__ == "SimCSE"
    cell = """
@register("from_a_cell", "From a cell")
class Mine(Method):
    temperature: float = 0.1
"""
    space = {"__name__": "__main__", "register": register, "Method": Method}
    try:
        exec(cell, space)
        first = METHODS["from_a_cell"]
        exec(cell, space)
        assert METHODS["from_a_cell"] is not first
    finally:
        METHODS.pop("from_a_cell", None)


@every_variant
@pytest.mark.parametrize("config", [BertConfig(), RobertaConfig(), BertConfig(hidden_size=1024)], ids=("b", "r", "l"))
def test_a_variant_changes_what_it_says_with_a_recipe(name, variant, config):
    """A variant changes what it says with a recipe and without."""
    cls = get_method(name)
    changes = cls.changes(variant, config)
    stated = cls.variants.get(variant, {})
    assert {
        key: value for key, value in stated.items() if value != cls.resolved(config)[key]
    }.items() <= changes.items()
    for recipe in cls.recipes.values():
        given = {key: value for key, value in recipe.hyperparameters.items() if key not in stated}
        resolved = cls.resolved(config, variant=variant, **given)
        assert {key: resolved[key] for key in changes.keys() - given.keys()} == {
            key: changes[key] for key in changes.keys() - given.keys()
        }


@every_variant
@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_resolved_is_what_is_trained(name, variant, family):
    encoder, method = make_encoder(family, layers=1), make(name, variant)
    try:
        method.prepare(encoder)
    except ValueError as reason:
        assert family == "bert" and "with upper and lower case" in str(reason)
    given = small(name, variant)
    assert method.settings() == get_method(name).resolved(encoder.backbone.config, variant=variant, **given)
