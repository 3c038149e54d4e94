"""Encoders as folders: this project, transformers and the real sentence-transformers read the same vectors."""

import json
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch
from refusals import check_refused, refusals
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules
from tiny import FAMILIES, LONGEST, PROMPTS, make_encoder, make_sentences, make_tokenizer, seeded, write_checkpoint

from cselab.encoders import open as opening
from cselab.encoders.checkpoint import CheckpointError
from cselab.encoders.encoder import SentenceEncoder, UntrainedWeightsError
from cselab.encoders.heads import MLPHead, WhitenedHead
from cselab.encoders.open import converting_line
from cselab.encoders.pooling import POOLINGS
from cselab.sgw import ShuffledGroupWhitening

SENTENCES = make_sentences(6)


def assert_same_vectors(found, expected, tolerance=1e-6):
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


def with_head(encoder, kind):
    """The encoder with a head as training leaves it, as its representation."""
    generator = seeded(3)
    if kind == "mlp":
        head = MLPHead(8, generator)
    else:
        head = WhitenedHead(ShuffledGroupWhitening(8, num_groups=2, momentum=0.5), MLPHead(8, generator))
        for _ in range(3):
            head(torch.randn(20, 8, generator=generator) @ torch.randn(8, 8, generator=generator))
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))
    encoder.attach_head(head.eval())
    encoder.untrained.discard("head")
    encoder.representation = "head"
    return encoder


# ------------------------------------------------------------------------------------ there and back


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_saved_encoder_gives_its_vectors_here_and_in_sentence(pooling, family, tmp_path, capfd):
    """A saved encoder gives its vectors here and in sentence transformers."""
    encoder = make_encoder(family, pooling=pooling)
    expected = encoder.encode(SENTENCES)
    encoder.save_pretrained(tmp_path / "encoder")
    again = SentenceEncoder.from_pretrained(tmp_path / "encoder")
    assert capfd.readouterr() == ("", "")  # no bars, no reports
    assert np.array_equal(again.encode(SENTENCES), expected)
    assert (again.pooling, again.representation, again.name) == (pooling, "backbone", "encoder")
    assert again.max_length == encoder.max_length and again.template == encoder.template
    assert again.weights_hash() == encoder.weights_hash()
    real = SentenceTransformer(str(tmp_path / "encoder"), device="cpu")
    assert_same_vectors(real.encode(SENTENCES), expected)
    assert real.get_max_seq_length() == encoder.max_length


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", ["mlp", "whitened"])
def test_a_saved_head_becomes_modules_of_sentence_transformers(kind, family, tmp_path):
    encoder = with_head(make_encoder(family, pooling="cls"), kind)
    expected = encoder.encode(SENTENCES)
    encoder.save_pretrained(tmp_path)
    again = SentenceEncoder.from_pretrained(tmp_path)
    assert again.representation == "head"
    assert_same_vectors(again.encode(SENTENCES), expected)
    assert_same_vectors(SentenceTransformer(str(tmp_path), device="cpu").encode(SENTENCES), expected)


def test_a_head_is_kept_beside_a_backbone_representation(tmp_path):
    encoder = with_head(make_encoder(), "whitened")
    behind_the_head = encoder.encode(SENTENCES)
    encoder.representation = "backbone"
    expected = encoder.encode(SENTENCES)
    encoder.save_pretrained(tmp_path)
    assert_same_vectors(SentenceTransformer(str(tmp_path), device="cpu").encode(SENTENCES), expected)
    assert_same_vectors(SentenceEncoder.from_pretrained(tmp_path).encode(SENTENCES), expected)
    opened = SentenceEncoder.from_pretrained(tmp_path, representation="head")
    assert_same_vectors(opened.encode(SENTENCES), behind_the_head)


def test_the_longest_input_and_normalisation_travel(tmp_path):
    encoder = SentenceEncoder(make_encoder().backbone, make_tokenizer(), max_length=9, normalize=True)
    encoder.save_pretrained(tmp_path)
    short = [sentence for sentence in make_sentences(20) if len(sentence.split()) < 8]
    again = SentenceEncoder.from_pretrained(tmp_path)
    assert again.max_length == 9 and again.normalize
    expected = encoder.encode(short)
    assert_same_vectors(again.encode(short), expected)
    real = SentenceTransformer(str(tmp_path), device="cpu")
    assert real.get_max_seq_length() == 9
    assert_same_vectors(real.encode(short), expected)
    assert SentenceEncoder.from_pretrained(tmp_path, max_length=20).max_length == 20


def test_saving_over_another_encoder_leaves_nothing_of_it(tmp_path):
    with_head(make_encoder(pooling="mask"), "mlp").save_pretrained(tmp_path)
    encoder = make_encoder(seed=1, pooling="layer1_last_mean")
    encoder.save_pretrained(tmp_path)
    expected = encoder.encode(SENTENCES)
    assert np.array_equal(SentenceEncoder.from_pretrained(tmp_path).encode(SENTENCES), expected)
    assert_same_vectors(SentenceTransformer(str(tmp_path), device="cpu").encode(SENTENCES), expected)


def test_a_prompt_is_taken_off_when_another_pooling_is_asked_for(tmp_path):
    make_encoder(pooling="mask").save_pretrained(tmp_path)
    opened = SentenceEncoder.from_pretrained(tmp_path, pooling="cls")
    assert np.array_equal(opened.encode(SENTENCES), make_encoder(pooling="cls").encode(SENTENCES))
    other = "{sentence} : [MASK]"
    opened = SentenceEncoder.from_pretrained(tmp_path, template=other)
    tokens = opened.tokenizer.convert_ids_to_tokens(opened.tokenizer("a dog")["input_ids"])
    assert tokens == "[CLS] a dog : [MASK] [SEP]".split()


# ------------------------------------------------------------------------------------ folders of others


@pytest.mark.parametrize("family", FAMILIES)
def test_a_plain_checkpoint_opens_with_the_mean(family, tmp_path):
    """A plain checkpoint opens with the mean or the pooling asked for."""
    write_checkpoint(tmp_path, family)
    opened = SentenceEncoder.from_pretrained(tmp_path)
    assert (opened.pooling, opened.max_length, opened.training) == ("mean", LONGEST, False)
    assert np.array_equal(opened.encode(SENTENCES), make_encoder(family).encode(SENTENCES))
    for pooling in POOLINGS:
        template = PROMPTS[family] if pooling == "mask" else None
        opened = SentenceEncoder.from_pretrained(tmp_path, pooling=pooling, template=template)
        assert np.array_equal(opened.encode(SENTENCES), make_encoder(family, pooling=pooling).encode(SENTENCES))


@pytest.mark.parametrize("pooling", ["cls", "mean"])
@pytest.mark.parametrize("tail", ["", "dense", "dense dense normalize", "normalize"])
def test_a_sentence_transformers_folder_opens_here(pooling, tail, tmp_path):
    transformer = modules.Transformer(str(write_checkpoint(tmp_path / "plain")), max_seq_length=20)
    parts, width = [transformer, modules.Pooling(8, pooling_mode=pooling)], 8
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        for kind in tail.split():
            if kind == "dense":
                parts.append(modules.Dense(width, width - 2, activation_function=torch.nn.Tanh()))
                width -= 2
            else:
                parts.append(modules.Normalize())
    real = SentenceTransformer(modules=parts, device="cpu")
    real.save(str(tmp_path / "theirs"))
    opened = SentenceEncoder.from_pretrained(tmp_path / "theirs")
    assert_same_vectors(opened.encode(SENTENCES), real.encode(SENTENCES))
    assert (opened.pooling, opened.max_length, opened.embedding_dimension) == (pooling, 20, width)
    assert opened.representation == ("head" if "dense" in tail else "backbone")
    opened.save_pretrained(tmp_path / "ours")
    ours = SentenceTransformer(str(tmp_path / "ours"), device="cpu")
    assert_same_vectors(ours.encode(SENTENCES), real.encode(SENTENCES))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: [modules.Pooling(8, pooling_mode="max")], r"pools by max; understood are cls, mean, lasttoken"),
        (
            lambda: [modules.Pooling(8), modules.LayerNorm(8)],
            r"modules\.json lists the modules Transformer, Pooling, LayerNorm; understood are Transformer,",
        ),
        (
            lambda: [modules.Pooling(8), modules.Normalize(), modules.Dense(8, 4)],
            r"modules\.json lists the modules Transformer, Pooling, Normalize, Dense; .* in this order",
        ),
    ],
)
def test_modules_that_are_not_understood_are_named(make, message, tmp_path):
    with torch.random.fork_rng(devices=[]):
        parts = [modules.Transformer(str(write_checkpoint(tmp_path / "plain"))), *make()]
    SentenceTransformer(modules=parts, device="cpu").save(str(tmp_path / "theirs"))
    with pytest.raises(CheckpointError, match=message):
        SentenceEncoder.from_pretrained(tmp_path / "theirs")


def theirs(tmp_path, *parts, **settings):
    """A folder of sentence-transformers with these settings of its module Transformer, and a cased tokenizer."""
    with torch.random.fork_rng(devices=[]):
        tokenizer = make_tokenizer()
        tokenizer.backend_tokenizer.normalizer = None
        plain = write_checkpoint(tmp_path / "plain")
        tokenizer.save_pretrained(plain)
        change(plain / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast", do_lower_case=False)
        listed = [modules.Transformer(str(plain)), modules.Pooling(8), *parts]
    SentenceTransformer(modules=listed, device="cpu").save(str(tmp_path / "theirs"))
    change(tmp_path / "theirs/sentence_bert_config.json", **settings)
    return tmp_path / "theirs"


def change(file, **settings):
    file.write_text(json.dumps(json.loads(file.read_text()) | settings))


@pytest.mark.parametrize("name", ["sentence_bert_config.json", "sentence_roberta_config.json"])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.filterwarnings("ignore::cselab.encoders.encoder.UnknownTokensWarning")  # upper case
def test_case_is_lowered_where_sentence_transformers_lowers_it(tmp_path, lower, name):
    folder = theirs(tmp_path, do_lower_case=lower, max_seq_length=20)
    change(folder / "tokenizer_config.json", model_max_length=12)
    (folder / "sentence_bert_config.json").rename(folder / name)
    shouted = [sentence.upper() for sentence in SENTENCES]
    ours = SentenceEncoder.from_pretrained(folder)
    expected = SentenceTransformer(str(folder), device="cpu").encode(shouted)
    assert ours.max_length == 20
    assert_same_vectors(ours.encode(shouted), expected)
    assert np.allclose(ours.encode(shouted), ours.encode(SENTENCES)) == lower
    ours.save_pretrained(tmp_path / "ours")
    assert_same_vectors(SentenceEncoder.from_pretrained(tmp_path / "ours").encode(shouted), expected)
    assert_same_vectors(SentenceTransformer(str(tmp_path / "ours"), device="cpu").encode(shouted), expected)


@pytest.mark.parametrize(
    "listed",
    [
        [],
        [{"path": "1_Pooling", "type": "Pooling"}],
        [{"path": "", "type": "Transformer"}] * 2 + [{"path": "1_Pooling", "type": "Pooling"}],
        [{"path": "", "type": "Transformer"}],
        [{"path": "", "type": "Transformer"}, {"path": "../plain", "type": "Pooling"}],
    ],
)
def test_modules_are_one_transformer_and_one_pooling_inside(tmp_path, listed):
    """Modules are one transformer and one pooling inside the folder."""
    folder = theirs(tmp_path)
    (folder / "modules.json").write_text(json.dumps(listed))
    with pytest.raises(CheckpointError, match=r"modules\.json (lists|is damaged)|not a path inside the folder"):
        SentenceEncoder.from_pretrained(folder)


@pytest.mark.parametrize("settings", [{"head": ["../plain"]}, {"head": [5]}, {"sha256": {"../plain/config.json": "0"}}])
def test_a_folder_of_cselab_names_nothing_outside_of_it(tmp_path, settings):
    write_checkpoint(tmp_path / "plain")
    make_encoder().save_pretrained(tmp_path / "ours")
    change(tmp_path / "ours/cselab.json", **{"sha256": {}} | settings)
    with pytest.raises(CheckpointError, match="not a path inside"):
        SentenceEncoder.from_pretrained(tmp_path / "ours")


# ------------------------------------------------------------------------------------ weights that are not there


def test_a_head_that_was_not_saved_is_an_error(tmp_path):
    encoder = make_encoder()
    encoder.attach_head(MLPHead(8, seeded()))
    encoder.save_pretrained(tmp_path)  # the representation is the backbone: the untrained head stays behind
    assert SentenceEncoder.from_pretrained(tmp_path).head is None
    with pytest.raises(UntrainedWeightsError, match="needs an encoder with a head"):
        SentenceEncoder.from_pretrained(tmp_path, representation="head")


# ------------------------------------------------------------------------------------ damage


@pytest.fixture
def saved(tmp_path):
    """A folder with everything in it: a prompt, a head."""
    with_head(make_encoder(pooling="mask"), "whitened").save_pretrained(tmp_path / "saved")
    return tmp_path / "saved"


def cut(file, share=0.5):
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * share)])


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.999])
@pytest.mark.parametrize(
    "file",
    "model.safetensors config.json cselab.json tokenizer.json tokenizer_config.json "
    "3_Dense/model.safetensors 3_Dense/config.json".split(),
)
def test_a_file_cut_short_is_an_error_that_names_its_folder(file, share, saved):
    cut(saved / file, share if file.endswith(".safetensors") else 0.9 * share)
    with pytest.raises(CheckpointError, match=str((saved / file).parent)):
        SentenceEncoder.from_pretrained(saved)


NAMES, each_refusal = refusals("encoders/folders.md")


@each_refusal
def test_a_setting_or_file_of_a_folder_is_applied_or_refused(kind, words, call, tmp_path, saved):
    def of_theirs(file, **settings):
        with torch.random.fork_rng(devices=[]):
            folder = theirs(tmp_path, modules.Dense(8, 4), modules.Normalize())
        SentenceEncoder.from_pretrained(folder)
        change(folder / file, **settings)
        SentenceEncoder.from_pretrained(folder)

    def of_ours(file, **settings):
        change(saved / file, **settings)
        SentenceEncoder.from_pretrained(saved)

    def without(file):
        (saved / file).unlink()
        SentenceEncoder.from_pretrained(saved)

    def with_a_tokenizer_of(family):
        make_tokenizer(family).save_pretrained(saved)
        SentenceEncoder.from_pretrained(saved)

    folders = {
        "of_theirs": of_theirs,
        "of_ours": of_ours,
        "without": without,
        "with_a_tokenizer_of": with_a_tokenizer_of,
    }
    check_refused(kind, words, call, NAMES, **folders)


def as_pickle(folder):
    """The folder with its weights as torch pickles them; the weights."""
    state = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save(state, folder / "pytorch_model.bin")
    return state


def converted_by_the_line_of(message, **options):
    """Run the line that a refusal ends with."""
    line = str(message).split("convert it: python ")[1]
    subprocess.run(f"{sys.executable} {line}", shell=True, check=True, capture_output=True, **options)


def test_a_pickle_is_refused_with_the_line(tmp_path):
    """A pickle is refused with the line that converts it and pools as before."""
    transformer = modules.Transformer(str(write_checkpoint(tmp_path / "plain")))
    model = SentenceTransformer(modules=[transformer, modules.Pooling(8, "cls")])
    model.save(str(tmp_path / "old"))
    as_pickle(tmp_path / "old")
    with pytest.raises(CheckpointError, match=r"pytorch_model\.bin only, a pickle.*convert it: python -c") as refused:
        SentenceEncoder.from_pretrained(tmp_path / "old")
    converted_by_the_line_of(refused.value)
    converted = SentenceEncoder.from_pretrained(tmp_path / "old-safetensors")
    assert converted.pooling == "cls"
    assert_same_vectors(converted.encode(SENTENCES), model.encode(SENTENCES))


HUB = """
import huggingface_hub, shutil, sys
def snapshot_download(name, revision=None, local_dir=None, allow_patterns=None):
    assert (name, revision) == ("someone/their-encoder", "abc123") and "*.bin" in allow_patterns
    return shutil.copytree({hub!r}, local_dir)
huggingface_hub.snapshot_download = snapshot_download
"""


def test_a_name_of_the_hub_with_pickled_weights_is_refused(tmp_path, monkeypatch):
    """A name of the hub with pickled weights is refused with the line that fetches and converts them."""
    hub = write_checkpoint(tmp_path / "hub")
    fetched = shutil.copytree(hub, tmp_path / "fetched", ignore=shutil.ignore_patterns("*.safetensors"))
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(fetched))
    with pytest.raises(
        CheckpointError, match=r"someone/their-encoder has no safetensors weights on the hub"
    ) as refused:
        SentenceEncoder.from_pretrained("someone/their-encoder", revision="abc123")
    state = as_pickle(hub)
    (tmp_path / "sitecustomize.py").write_text(HUB.format(hub=str(hub)))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    converted_by_the_line_of(refused.value, cwd=tmp_path)
    converted = SentenceEncoder.from_pretrained(tmp_path / "their-encoder-safetensors")
    assert all(torch.equal(converted.backbone.state_dict()[name], value) for name, value in state.items())


# ------------------------------------------------------------------------------------ names


def test_a_name_of_the_hub_is_fetched_and_kept_as_the_name(tmp_path, monkeypatch):
    write_checkpoint(tmp_path / "snapshot")
    asked = []

    def snapshot_download(name, *, revision, allow_patterns):
        asked.append((name, revision))
        assert not [pattern for pattern in allow_patterns if pattern.endswith(".bin")]
        return str(tmp_path / "snapshot")

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    opened = SentenceEncoder.from_pretrained("someone/their-encoder", revision="abc123")
    assert asked == [("someone/their-encoder", "abc123")] and opened.name == "someone/their-encoder"
    assert np.array_equal(opened.encode(SENTENCES), make_encoder().encode(SENTENCES))


def test_an_unknown_name_offline_says_what_was_tried(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(CheckpointError, match=r"no encoder 'nobody/nothing': not bundled .*, not a folder, .*hub"):
        SentenceEncoder.from_pretrained("nobody/nothing")


def test_a_local_folder_opens_offline_and_never_asks_the_hub(tmp_path, monkeypatch):
    def unreachable(*_, **__):
        raise AssertionError("the hub was asked")

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.snapshot_download", unreachable)
    write_checkpoint(tmp_path)
    assert SentenceEncoder.from_pretrained(tmp_path).name == tmp_path.name
    for missing in (tmp_path / "nothing", "./nothing", "~/nothing", "a/b/c", tmp_path / "config.json"):
        with pytest.raises(CheckpointError, match=r"the encoder folder .* does not exist"):
            SentenceEncoder.from_pretrained(missing)


# ------------------------------------------------------------------------------------ bundled encoders


@pytest.fixture
def assets(tmp_path, monkeypatch):
    """A bundled encoder called "wee", with its checksums."""
    import hashlib

    write_checkpoint(tmp_path / "wee")
    sums = {f"wee/{file.name}": hashlib.sha256(file.read_bytes()).hexdigest() for file in (tmp_path / "wee").iterdir()}
    (tmp_path / "checksums.json").write_text(json.dumps(sums))
    monkeypatch.setattr(opening, "ASSETS", tmp_path)
    monkeypatch.setattr(opening, "CHECKSUMS", tmp_path / "checksums.json")
    monkeypatch.setattr("cselab.encoders.open.BUNDLED", ("wee",))
    opening.bundled_folder.cache_clear()
    yield tmp_path / "wee"
    opening.bundled_folder.cache_clear()


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json", "config.json"])
def test_a_bundled_file_that_is_missing(file, assets):
    """A bundled file that is missing or has a flipped bit is named."""
    opened = SentenceEncoder.from_pretrained("wee")
    assert opened.name == "wee" and np.array_equal(opened.encode(SENTENCES), make_encoder().encode(SENTENCES))
    opening.bundled_folder.cache_clear()
    content = bytearray((assets / file).read_bytes())
    content[len(content) // 2] ^= 1
    (assets / file).write_bytes(content)
    with pytest.raises(CheckpointError, match=rf"wee/{file} is damaged \(sha256 .* install cselab again"):
        SentenceEncoder.from_pretrained("wee")
    (assets / file).unlink()
    with pytest.raises(CheckpointError, match=rf"wee/{file} is missing: install cselab again"):
        SentenceEncoder.from_pretrained("wee")


def test_the_bundled_encoders_are_whole_and_open():
    assert {folder.name for folder in opening.ASSETS.iterdir() if folder.is_dir()} == set(opening.BUNDLED)
    for name in opening.BUNDLED:
        assert SentenceEncoder.from_pretrained(name).name == name


def test_a_tokenizer_without_its_unknown_token_names_its_folder(tmp_path):
    folder = write_checkpoint(tmp_path / "bare")
    written = json.loads((folder / "tokenizer.json").read_text())
    del written["model"]["vocab"]["[UNK]"]
    written["added_tokens"] = [token for token in written["added_tokens"] if token["content"] != "[UNK]"]
    (folder / "tokenizer.json").write_text(json.dumps(written))
    encoder = SentenceEncoder.from_pretrained(folder)
    with pytest.raises(ValueError, match=f"the tokenizer of {re.escape(str(folder))} cannot read these texts .*UNK"):
        encoder.encode(["猫"])


# ------------------------------------------------------------------------------------ what lies in a file's place

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 133466304\n"
FILES = ("model.safetensors", "tokenizer.json", "config.json", "modules.json", "1_Pooling/config.json", "cselab.json")


@pytest.mark.parametrize("content", [POINTER, b"/annex/objects/SHA256E-s133--4d7a.json\n"])
@pytest.mark.parametrize("name", FILES)
def test_a_pointer_in_the_place_of_a_file_is_named(name, content, tmp_path):
    """A pointer in the place of a file is named with the command."""
    make_encoder().save_pretrained(tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(
        CheckpointError, match=rf"{name} points to a file that is not here: fetch it with `git lfs pull`"
    ):
        SentenceEncoder.from_pretrained(tmp_path)


@pytest.mark.parametrize("name", FILES[1:])
@pytest.mark.parametrize("content", ["[" * 50_000, '{"a":' * 50_000])
def test_json_nested_without_end_is_damage(name, content, tmp_path):
    make_encoder().save_pretrained(tmp_path)
    (tmp_path / name).write_text(content)
    with pytest.raises(CheckpointError, match=str(tmp_path)):
        SentenceEncoder.from_pretrained(tmp_path)


@pytest.mark.parametrize("name", ['x$(touch PWNED)"y', "a'b", "a`id`", "a;b & c", "a\nb", "über alles", "a\\b", "!!"])
def test_a_command_to_paste_is_one_command_for_any_name(name):
    for path, revision in ((name, None), (name, 'v"$(id)')):
        python, option, code = shlex.split(converting_line(path, revision))
        assert (python, option) == ("python", "-c") and repr(path) in code and compile(code, "pasted", "exec")


@pytest.mark.parametrize("prefix", ["module.", "model.", "encoder.bert.", "0.auto_model.", "_orig_mod."])
def test_weights_that_a_wrapper_saved_are_named(prefix, tmp_path):
    """Weights that a wrapper saved are named with their prefix."""
    make_encoder().save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    save_file({prefix + name: value for name, value in load_file(file).items()}, file, metadata={"format": "pt"})
    (tmp_path / "cselab.json").unlink()
    with pytest.raises(CheckpointError, match=rf"names that begin with '{re.escape(prefix)}'.*removeprefix\("):
        SentenceEncoder.from_pretrained(tmp_path)


@pytest.mark.parametrize("similarity", ["dot", "euclidean", "manhattan", 3])
def test_another_similarity_is_told(similarity, tmp_path):
    make_encoder().save_pretrained(tmp_path)
    (tmp_path / "cselab.json").unlink()
    file = tmp_path / "config_sentence_transformers.json"
    file.write_text(json.dumps({"similarity_fn_name": similarity}))
    with pytest.warns(UserWarning, match=rf"asks for the similarity {similarity!r}; cselab compares"):
        SentenceEncoder.from_pretrained(tmp_path)
