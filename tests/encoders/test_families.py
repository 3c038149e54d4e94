"""What people embed with today: opened, equal to sentence-transformers, saved, trained; one row a family."""

import warnings

import numpy as np
import pytest
import torch
from families import FAMILIES, make_backbone, make_tokenizer, write_checkpoint
from numpy.testing import assert_allclose
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
from tiny import make_sentences, short_run
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, T5ForConditionalGeneration

from cselab import SentenceEncoder
from cselab.encoders.dropout import dropout_fields
from cselab.encoders.encoder import PoolingWarning

SENTENCES = [*make_sentences(12), "a cat"]
THEIRS = {"cls": "cls", "mean": "mean", "last_token": "lasttoken"}
DECODERS = ("llama", "qwen3", "gemma3")

each_family = pytest.mark.parametrize("family", FAMILIES)


def theirs(folder, **options):
    return SentenceTransformer(str(folder), device="cpu", model_kwargs={"dtype": torch.float32}, **options)


def pooled_there(plain, pooling, side="right"):
    """The vectors that sentence-transformers pools from a plain checkpoint."""
    transformer = Transformer(str(plain), model_kwargs={"dtype": torch.float32})
    transformer.tokenizer.padding_side = side
    modules = [transformer, Pooling(transformer.get_embedding_dimension(), pooling)]
    return SentenceTransformer(modules=modules, device="cpu").encode(SENTENCES)


def write_folder(folder, family, prompts=None, default=None, dim=None, **settings):
    """A sentence-transformers folder, written by it, with the pooling that this family's users have."""
    plain = write_checkpoint(folder / "plain", family, **settings)
    transformer = Transformer(str(plain), model_kwargs={"dtype": torch.float32})
    pooling = Pooling(transformer.get_embedding_dimension(), THEIRS[FAMILIES[family].pooling])
    options = {"prompts": prompts, "default_prompt_name": default, "truncate_dim": dim}
    SentenceTransformer(modules=[transformer, pooling, Normalize()], device="cpu", **options).save(str(folder / "st"))
    return folder / "st"


@each_family
def test_a_folder_of_each_family_gives_the_vectors(family, tmp_path):
    """A folder of each family gives the vectors of sentence transformers."""
    folder = write_folder(tmp_path, family)
    encoder = SentenceEncoder.from_pretrained(folder)
    assert encoder.pooling == FAMILIES[family].pooling and encoder.pooling_given
    vectors = encoder.encode(SENTENCES, batch_size=4)
    assert_allclose(vectors, theirs(folder).encode(SENTENCES, batch_size=5), atol=1e-5)
    encoder.save_pretrained(tmp_path / "mine")
    assert_allclose(theirs(tmp_path / "mine").encode(SENTENCES), vectors, atol=1e-5)
    again = SentenceEncoder.from_pretrained(tmp_path / "mine")
    assert_allclose(again.encode(SENTENCES, batch_size=4), vectors, atol=1e-6)


@each_family
def test_each_family_is_trained_with_its_own_pooling(family, tmp_path):
    encoder = SentenceEncoder.from_pretrained(write_folder(tmp_path, family))
    encoder.dropout = 0.1
    before = encoder.weights_hash()
    run = short_run(encoder=encoder)
    assert [row["step"] for row in run.history if "loss" in row] == [1, 2]
    assert encoder.weights_hash() != before and encoder.pooling == FAMILIES[family].pooling


@each_family
def test_where_nothing_is_dropped_out_training_is_refused(family):
    """Where nothing is dropped out training is refused and the fields are named."""
    encoder = SentenceEncoder(make_backbone(family), make_tokenizer(family), FAMILIES[family].pooling, name=family)
    encoder.dropout = 0
    with pytest.raises(ValueError, match=r"the views are identical.*--dropout 0.1") as refused:
        short_run(encoder=encoder)
    fields = list(dropout_fields(encoder.backbone))
    assert fields and all(f"{field} = 0" in str(refused.value) for field in fields)


@pytest.mark.parametrize("pooling", THEIRS)
@pytest.mark.parametrize("family", ["bert", "llama"])
def test_poolings_are_those_of_sentence_transformers(pooling, family, tmp_path):
    """Poolings are those of sentence transformers on either side of padding."""
    plain = write_checkpoint(tmp_path, family)
    encoder = SentenceEncoder.from_pretrained(plain, pooling=pooling)
    for side in ("left", "right"):
        encoder.tokenizer.padding_side = side
        expected = pooled_there(plain, THEIRS[pooling], side)
        assert_allclose(encoder.encode(SENTENCES), expected, atol=1e-5)


@each_family
def test_a_decoder_without_a_pooling_is_told_what_it_gets(family, tmp_path):
    """A decoder without a pooling is told what it gets and others are not."""
    plain = write_checkpoint(tmp_path, family)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", PoolingWarning)
        encoder = SentenceEncoder.from_pretrained(plain)
    told = [str(one.message) for one in told if one.category is PoolingWarning]
    assert (encoder.pooling, encoder.pooling_given) == (("last_token", True) if family in DECODERS else ("mean", False))
    assert len(told) == (family in DECODERS) and all("using the last token" in text for text in told)


def test_prompts_are_put_before_sentences_by_name(tmp_path):
    folder = write_folder(tmp_path, "qwen3", prompts={"query": "this cat : ", "document": ""}, default="query")
    encoder, other = SentenceEncoder.from_pretrained(folder), theirs(folder)
    assert encoder.prompts == other.prompts and encoder.default_prompt_name == "query"
    for options in ({}, {"prompt_name": "document"}, {"prompt_name": "query"}, {"prompt": "the dog "}):
        expected = other.encode(SENTENCES, **options)
        assert_allclose(encoder.encode(SENTENCES, **options), expected, atol=1e-5)
    assert np.abs(encoder.encode(SENTENCES) - encoder.encode(SENTENCES, prompt_name="document")).max() > 1e-3
    encoder.save_pretrained(tmp_path / "mine")
    assert_allclose(theirs(tmp_path / "mine").encode(SENTENCES), encoder.encode(SENTENCES), atol=1e-5)
    with pytest.raises(ValueError, match=r"unknown prompt 'passage'; st has \['document', 'query'\]"):
        encoder.encode("a cat", prompt_name="passage")


def test_vectors_are_truncated_as_the_folder_or_the_encoder_says(tmp_path):
    folder = write_folder(tmp_path, "gemma3", dim=6)
    encoder, other = SentenceEncoder.from_pretrained(folder), theirs(folder)
    assert encoder.truncate_dim == encoder.embedding_dimension == 6
    for options in ({}, {"normalize_embeddings": True}):
        assert_allclose(encoder.encode(SENTENCES, **options), other.encode(SENTENCES, **options), atol=1e-5)
    encoder.save_pretrained(tmp_path / "mine")
    assert SentenceEncoder.from_pretrained(tmp_path / "mine").truncate_dim == 6
    encoder.truncate_dim = 3
    assert_allclose(encoder.encode(SENTENCES), other.encode(SENTENCES, truncate_dim=3), atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_weights_of_half_precision_are_opened_in_float32(dtype, tmp_path):
    plain = write_checkpoint(tmp_path, "qwen3")
    half = SentenceEncoder.from_pretrained(plain, pooling="mean").backbone.to(dtype)
    half.save_pretrained(plain)
    encoder = SentenceEncoder.from_pretrained(plain, pooling="last_token")
    assert {weights.dtype for weights in encoder.parameters()} == {torch.float32}
    assert_allclose(encoder.encode(SENTENCES), pooled_there(plain, "lasttoken"), atol=1e-5)


@pytest.mark.parametrize(
    "family, whole",
    [("t5", T5ForConditionalGeneration), ("qwen3", AutoModelForCausalLM), ("mpnet", AutoModelForMaskedLM)],
)
def test_of_a_model_with_a_language_head_or_a_decoder(family, whole, tmp_path):
    """The weights of T5's embeddings are tied, those of MPNet's pooler are missing."""
    config = make_backbone(family).config
    config.is_encoder_decoder = family == "t5"
    plain = tmp_path / "plain"
    (whole(config) if family == "t5" else whole.from_config(config)).save_pretrained(plain)
    make_tokenizer(family).save_pretrained(plain)
    encoder = SentenceEncoder.from_pretrained(plain, pooling="mean")
    assert_allclose(encoder.encode(SENTENCES), pooled_there(plain, "mean"), atol=1e-5)
    encoder.save_pretrained(tmp_path / "saved")
    for folder in (plain, tmp_path / "saved"):
        with pytest.raises(ValueError, match=f"the pooler of {folder.name} was neither trained nor loaded"):
            SentenceEncoder.from_pretrained(folder, pooling="cls_pooler")


def test_a_decoder_has_no_mask_token_to_be_pooled_by(tmp_path):
    encoder = SentenceEncoder.from_pretrained(write_checkpoint(tmp_path, "llama"), pooling="last_token")
    encoder.tokenizer.mask_token = None
    with pytest.raises(ValueError, match="need a mask token, but this model's tokenizer has none"):
        encoder.use_prompt("{sentence} means [MASK]")
