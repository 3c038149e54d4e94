"""Linear layers by oneDNN: the same vectors, where it pays, and nothing else is touched."""

import pytest
import torch
from families import FAMILIES, make_backbone, make_tokenizer
from tiny import make_sentences
from torch.nn.functional import linear
from torch.testing import assert_close

from cselab.encoders import encoder as encoders
from cselab.encoders import speed
from cselab.encoders.encoder import SentenceEncoder
from cselab.encoders.speed import OneDnnLinearMode, fastest_linear, mkl_is_slow

SENTENCES = make_sentences(20)


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch):
    monkeypatch.setattr(speed, "SMALLEST", 0)


@pytest.fixture
def on_this_processor(monkeypatch):
    """What torch and the system say of the processor."""

    def said(capability="AVX512", described="vendor_id : AuthenticAMD", has_onednn=True):
        monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
        monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: has_onednn)
        monkeypatch.setattr(speed, "_processor", lambda: described)
        mkl_is_slow.cache_clear()

    yield said
    mkl_is_slow.cache_clear()


def operations(call):
    """The names of what torch computes."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        call()
    return {event.name for event in profile.events()}


@pytest.mark.parametrize("shape", [(7, 12), (3, 5, 12), (1, 1, 12), (12,)])
@pytest.mark.parametrize("with_bias", [True, False])
def test_a_linear_layer_is_that_of_float64_to_rounding(shape, with_bias):
    torch.manual_seed(0)
    states, layer = torch.randn(shape), torch.nn.Linear(12, 9, bias=with_bias)
    with torch.no_grad(), OneDnnLinearMode():
        found = layer(states)
        assert "aten::mkldnn_linear" in operations(lambda: layer(states))
        assert_close(found, layer.double()(states.double()).float(), atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_encode_gives_the_same_vectors(family, monkeypatch):
    encoder = SentenceEncoder(make_backbone(family), make_tokenizer(family)).eval()
    monkeypatch.setattr(encoders, "fastest_linear", OneDnnLinearMode)
    vectors = encoder.encode(SENTENCES)
    assert "aten::mkldnn_linear" in operations(lambda: encoder.encode(SENTENCES[:2]))
    with torch.no_grad():
        plain = encoder(encoder.tokenize(SENTENCES)).numpy()
    assert_close(vectors, plain, atol=1e-5, rtol=1e-4)


def test_a_compiled_network_stays_as_it_is(monkeypatch):
    encoder = SentenceEncoder(make_backbone("bert"), make_tokenizer("bert")).eval()
    plain = encoder.encode(SENTENCES)
    monkeypatch.setattr(encoders, "fastest_linear", OneDnnLinearMode)
    for layer in encoder.backbone.encoder.layer:  # transformers 5.6 cannot compile the whole network
        layer.forward = torch.compile(layer.forward, backend="aot_eager")
    assert_close(encoder.encode(SENTENCES), plain, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, "autocast", "by name"])
def test_other_precisions_and_calls_stay_as_they_are(dtype):
    """Under autocast products are in bfloat16, though what is given is float32."""
    kind = dtype if isinstance(dtype, torch.dtype) else torch.float32
    states, weight = torch.randn(4, 8, dtype=kind), torch.randn(8, 8, dtype=kind)
    call = linear if dtype != "by name" else lambda states, weight: linear(states, weight=weight)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=dtype == "autocast"):
        plain = call(states, weight)
        with OneDnnLinearMode():
            assert torch.equal(call(states, weight), plain)
            assert "aten::mkldnn_linear" not in operations(lambda: call(states, weight))


def test_small_products_stay_as_they_are(monkeypatch):
    monkeypatch.setattr(speed, "SMALLEST", 4 * 8 * 8)
    layer = torch.nn.Linear(8, 8)
    with torch.no_grad(), OneDnnLinearMode():
        assert "aten::mkldnn_linear" in operations(lambda: layer(torch.randn(4, 8)))
        assert "aten::mkldnn_linear" not in operations(lambda: layer(torch.randn(3, 8)))


@pytest.mark.parametrize(
    "said, slow",
    [
        ({}, True),
        ({"described": "AMD64 Family 26 Model 68 Stepping 0, AuthenticAMD"}, True),
        ({"described": "vendor_id : GenuineIntel"}, False),
        ({"capability": "AVX2"}, False),
        ({"has_onednn": False}, False),
    ],
)
def test_it_is_for_processors_where_mkl_is_slow(said, slow, on_this_processor):
    on_this_processor(**said)
    assert mkl_is_slow() is slow
    assert isinstance(fastest_linear(), OneDnnLinearMode) is slow
