"""An encoder as a folder: written so that cselab, transformers and sentence-transformers all open it.

config.json, model.safetensors, tokenizer*.json    the backbone, as transformers writes it
modules.json, 1_Pooling/ ...                       how sentence-transformers pools it
2_Dense/ ...                                       the head, one folder per linear layer
adapter/ ...                                       adapters as peft writes them; model.safetensors has them merged
prefix.safetensors                                 the deep prefix, where the encoder has one
cselab.json                                        pooling, representation, longest input; checksums of all files
"""

import json
import logging
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import NoneType
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from tokenizers import normalizers
from torch import Tensor, nn

from cselab._util.arguments import PositiveInt, accepts, allowed
from cselab._util.checksums import add_checksums, verify_checksums
from cselab._util.reading import read_json

from .adapters import FOLDER, DeepPrefix, merged
from .checkpoint import CheckpointError, checkpoint_errors
from .heads import ACTIVATIONS, DenseLayer, DenseLayers
from .open import HUB_FILES, converting_line, reason_of
from .pooling import get_pooling

FolderSettings = dict[str, Any]
"""Named values, as they are in a JSON file."""

MODULE = "sentence_transformers.models."
LARGEST_WIDTH = 2**20  # largest input or output width of a dense layer: a larger number would only fill the memory
PREFIX, PREFIX_MODULE = "prefix.safetensors", "cselab.encoders.adapters.DeepPrefix"
ORDER = ("Transformer", "Pooling", "Dense", "Normalize")  # of the modules understood here
TRANSFORMER_FILES = tuple(
    f"sentence_{kind}_config.json"
    for kind in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)
"""The first existing file of these holds the settings of the module Transformer."""

_OF_SENTENCES = dict.fromkeys(("module_input_name", "module_output_name"), ("sentence_embedding",))
WITHOUT_EFFECT: dict[str, dict[str, tuple[Any, ...]]] = {
    "Transformer": {
        "transformer_task": ("feature-extraction",),
        "modality_config": ({"text": {"method": "forward", "method_output_name": "last_hidden_state"}},),
        "module_output_name": ("token_embeddings",),
    },
    "Pooling": {"include_prompt": (True,)},
    "Dense": _OF_SENTENCES,
    "Normalize": _OF_SENTENCES,
}
"""Values of settings of sentence-transformers' modules that do not change vectors: cselab refuses different values."""

APPLIED = {
    "Transformer": {"max_seq_length", "do_lower_case"},
    "Pooling": {"word_embedding_dimension", "embedding_dimension", "pooling_mode"},
    "Dense": {"in_features", "out_features", "bias", "activation_function"},
    "Normalize": set[str](),
}
"""Settings that are applied here. `TASK_SETTINGS` apply only to a query or a document; `encode` never uses them."""

TASK_SETTINGS = {"query_length", "document_length", "query_expansion", "unpad_inputs"}

OPTIONAL = {"prompts": dict, "default_prompt_name": str, "truncate_dim": PositiveInt}
"""Optional settings of a folder, by their names in sentence-transformers, with their types."""


def _write_json(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _read_json(path: Path) -> Any:
    with checkpoint_errors(path, ValueError):
        return read_json(path)


def _read_object(path: Path) -> FolderSettings:
    content = _read_json(path)
    if not isinstance(content, dict):
        raise CheckpointError(
            f"{path} is damaged: the file holds {content!r:.40}, not named settings; restore the file"
        )
    return content


def _check_types(file: Path, settings: FolderSettings, kinds: FolderSettings) -> None:
    """Refuse a file in which one of these settings is missing or of a wrong type."""
    for name, kind in kinds.items():
        value = settings.get(name, "missing")
        if name not in settings or not accepts(kind, value):
            raise CheckpointError(
                f"{file} is damaged: {name!r} is {value!r:.40}, not {allowed(kind)}; restore the file"
            )


def _check_settings(file: Path, kind: str, config: FolderSettings) -> None:
    """Refuse settings that would change the vectors in sentence-transformers, and are not applied here."""
    for name, value in config.items():
        applied = name in APPLIED[kind] or name in TASK_SETTINGS or name.startswith("pooling_mode_")
        if not (applied or value in (None, False, {}, []) or value in WITHOUT_EFFECT[kind].get(name, ())):
            raise CheckpointError(
                f"{file} sets {name!r} to {value!r:.60}, which sentence-transformers applies and cselab does not: "
                "give SentenceTransformer(folder) itself instead of the folder"
            )


def _inside(folder: Path, name: Any) -> Path:
    """A file or folder named in a settings file, which must lie inside the folder."""
    inner = folder / name if isinstance(name, str) else None
    if inner is None or not Path(os.path.realpath(inner)).is_relative_to(os.path.realpath(folder)):
        raise CheckpointError(f"{folder} names {name!r}, which is not a path inside the folder")
    return inner


def _dense(linear: nn.Linear, activation: nn.Module) -> tuple[FolderSettings, dict[str, Tensor]]:
    """The config and the weights of a module Dense."""
    kind = type(activation)
    config = {
        "in_features": linear.in_features,
        "out_features": linear.out_features,
        "bias": linear.bias is not None,
        "activation_function": f"{kind.__module__}.{kind.__name__}",
    }
    return config, {f"linear.{name}": weights.cpu().contiguous() for name, weights in linear.state_dict().items()}


def _read_dense(folder: Path) -> DenseLayer:
    file = folder / "config.json"
    config: FolderSettings = {"bias": True} | _read_object(file)
    _check_settings(file, "Dense", config)
    _check_types(file, config, {"activation_function": str, "in_features": int, "out_features": int, "bias": bool})
    name, sizes = config["activation_function"], [config["in_features"], config["out_features"]]
    if name not in ACTIVATIONS:
        raise CheckpointError(f"{folder}: unknown activation {name!r}; choose one of {', '.join(ACTIVATIONS)}")
    if not all(0 < size <= LARGEST_WIDTH for size in sizes):
        raise CheckpointError(f"{file} is damaged: its sizes are {sizes}; restore the file")
    linear = nn.utils.skip_init(nn.Linear, *sizes, bias=config["bias"])
    weights = folder / "model.safetensors"
    with checkpoint_errors(weights):
        state = {key.removeprefix("linear."): value for key, value in load_file(weights).items()}
    try:
        linear.load_state_dict(state)
    except RuntimeError as error:
        raise CheckpointError(f"{weights} does not fit the config.json of the folder ({error})") from None
    return linear, ACTIVATIONS[name]()


def _write_backbone(path: Path, backbone: Any, output_hidden_states: bool) -> Any:
    """Write the transformer with merged adapters, and the adapters; return the written files."""
    with quiet_transformers():
        if getattr(backbone, "peft_config", None):
            backbone.save_pretrained(path / FOLDER)
            backbone = merged(backbone)
        before, backbone.config.output_hidden_states = backbone.config.output_hidden_states, output_hidden_states
        backbone.save_pretrained(path)
    backbone.config.output_hidden_states = before
    return backbone


def save_folder(
    path: Path,
    backbone: Any,
    tokenizer: Any,
    settings: FolderSettings,
    head: Sequence[DenseLayer],
    prefix: nn.Module | None,
) -> None:
    """Write an encoder's parts into the empty folder `path`.

    Args:
        backbone, tokenizer: those of transformers.
        settings: pooling, representation, max_length, normalize, template, and those of `OPTIONAL`, as returned by
            `read_folder`.
        head: linear layers with their activations, or nothing.
        prefix: a `cselab.encoders.adapters.DeepPrefix`, or None. sentence-transformers refuses a folder with one.
    """
    pooling = get_pooling(settings["pooling"])
    config, several_layers = backbone.config, len(pooling.layers) > 1
    backbone = _write_backbone(path, backbone, several_layers)
    tokenizer.backend_tokenizer.no_truncation()  # otherwise the file would have the settings of its last call
    tokenizer.backend_tokenizer.no_padding()
    tokenizer.save_pretrained(path)
    if settings["template"] is not None:  # BertTokenizer would put its own [CLS] and [SEP] in the prompt's place
        written = _read_json(path / "tokenizer_config.json")
        _write_json(path / "tokenizer_config.json", written | {"tokenizer_class": "PreTrainedTokenizerFast"})

    width = config.hidden_size
    modules = [("", "Transformer")]
    _write_json(
        path / "sentence_bert_config.json",
        {"max_seq_length": settings["max_length"], "do_lower_case": _lowers(tokenizer)},
    )

    def add(kind: str, content: FolderSettings | None = None, weights: dict[str, Tensor] | None = None) -> str:
        folder = path / f"{len(modules)}_{kind}"
        folder.mkdir(exist_ok=True)
        if content is not None:
            _write_json(folder / "config.json", content)
        if weights is not None:
            save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        modules.append((folder.name, kind))
        return folder.name

    if several_layers:
        first, last = (index % (config.num_hidden_layers + 1) for index in pooling.layers)
        weights = torch.zeros(last - first + 1)
        weights[0] = weights[-1] = 1.0
        add(
            "WeightedLayerPooling",
            {"word_embedding_dimension": width, "layer_start": first, "num_hidden_layers": config.num_hidden_layers},
            {"layer_weights": weights},
        )
    if pooling.counts == "mask":  # a mean in which only [MASK] has weight
        vocabulary = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
        words = {"vocab": vocabulary, "word_weights": {tokenizer.mask_token: 1.0}, "unknown_word_weight": 0.0}
        table = torch.zeros(len(vocabulary), 1)
        table[tokenizer.mask_token_id] = 1.0
        add("WordWeights", words, {"emb_layer.weight": table})
    add(
        "Pooling",
        {
            "word_embedding_dimension": width,
            "pooling_mode_cls_token": pooling.counts == "first",
            "pooling_mode_mean_tokens": pooling.counts in ("all", "mask"),
            "pooling_mode_lasttoken": pooling.counts == "last",
        },
    )
    if pooling.pooler:
        add("Dense", *_dense(backbone.pooler.dense, nn.Tanh()))
    head_folders = [add("Dense", *_dense(*layer)) for layer in head]
    if settings["normalize"]:
        add("Normalize")
    listed = [
        (folder, kind) for folder, kind in modules if folder not in head_folders or settings["representation"] == "head"
    ]
    _write_json(
        path / "modules.json",
        [
            {"idx": index, "name": str(index), "path": folder, "type": MODULE + kind}
            for index, (folder, kind) in enumerate(listed)
        ]
        if prefix is None
        else [{"idx": 0, "name": "0", "path": "", "type": PREFIX_MODULE}],
    )
    if prefix is not None:
        save_file(prefix.state_dict(), path / PREFIX, metadata={"format": "pt"})
        settings = settings | {"prefix": True}
    asked = {name: settings[name] for name in OPTIONAL if settings.get(name)}
    settings = {name: value for name, value in settings.items() if name not in OPTIONAL} | asked
    _write_json(path / "config_sentence_transformers.json", {"similarity_fn_name": "cosine"} | asked)
    files = {file for pattern in HUB_FILES for file in path.glob(pattern)}
    _write_json(path / "cselab.json", add_checksums(path / "cselab.json", settings | {"head": head_folders}, files))


def read_folder(path: Path) -> FolderSettings:
    """The settings of a folder's vectors: keyword arguments of `SentenceEncoder`, as far as the folder has them.

    Supports a folder of cselab, one of sentence-transformers (Transformer, Pooling, Dense, Normalize), and a plain
    transformers checkpoint without settings.

    Raises:
        CheckpointError: damaged files, or sentence-transformers modules that are not understood.
    """
    if (path / "cselab.json").exists():
        return _read_own(path)
    if (path / "modules.json").exists():
        return _read_modules(path)
    return {}


def _read_own(path: Path) -> FolderSettings:
    """A folder of cselab."""
    kept = _own_settings(path / "cselab.json")
    kept.pop("sha256", None)
    head = kept.pop("head")
    if kept.pop("prefix", False):
        with checkpoint_errors(path / PREFIX, TypeError):
            kept["prefix"] = DeepPrefix(**load_file(path / PREFIX))
    if head:
        kept["head"] = DenseLayers([_read_dense(_inside(path, folder)) for folder in head])
    return kept


def _read_modules(path: Path) -> FolderSettings:
    """A folder of sentence-transformers."""
    settings: FolderSettings = {"representation": "backbone"}
    dense = []
    for folder, kind in _listed_modules(path):
        if kind == "Transformer":
            settings["max_length"] = _transformer_settings(path)["max_seq_length"]
        elif kind == "Pooling":
            settings["pooling"] = _pooling_name(folder / "config.json")
        elif kind == "Dense":
            dense.append(_read_dense(folder))
        else:
            if (config_file := folder / "config.json").exists() and folder != path:
                _check_settings(config_file, kind, _read_object(config_file))
            settings["normalize"] = True
    if dense:
        settings |= {"head": DenseLayers(dense), "representation": "head"}
    return settings | _read_options(path / "config_sentence_transformers.json")


def _listed_modules(path: Path) -> list[tuple[Path, str]]:
    """The folder and the kind of each module, in their order."""
    modules = path / "modules.json"
    try:
        listed = [(_inside(path, module["path"]), module["type"].rsplit(".", 1)[-1]) for module in _read_json(modules)]
    except (KeyError, TypeError, AttributeError):
        raise CheckpointError(f"{modules} is damaged: not a list of modules with a path and a type") from None
    kinds = [kind for _, kind in listed]
    if (
        not set(kinds) <= set(ORDER)
        or kinds != sorted(kinds, key=ORDER.index)
        or any(kinds.count(kind) != 1 for kind in ORDER[:2])
    ):
        raise CheckpointError(
            f"{modules} lists the modules {', '.join(kinds) or 'none'}; understood are {', '.join(ORDER)}, in this "
            "order, the first two once"
        )
    return listed


def _transformer_settings(path: Path) -> FolderSettings:
    """The settings of the module Transformer of a folder; those of a folder without their file."""
    config: FolderSettings = {"max_seq_length": None, "do_lower_case": False}
    file = next((path / name for name in TRANSFORMER_FILES if (path / name).exists()), None)
    if file is not None:
        config |= _read_object(file)
        _check_settings(file, "Transformer", config)
        _check_types(file, config, {"max_seq_length": int | NoneType, "do_lower_case": bool})
    return config


def _read_options(file: Path) -> FolderSettings:
    """Prompts, the name of the default prompt, and the width of a folder of sentence-transformers."""
    said = _read_object(file) if file.exists() else {}
    kind = said.get("model_type", "SentenceTransformer")
    if kind != "SentenceTransformer":
        raise CheckpointError(f"{file} is of a {kind!r:.40}, which does not give one vector per sentence")
    similarity = said.get("similarity_fn_name")
    if similarity not in (None, "cosine"):
        warnings.warn(
            f"{file} asks for the similarity {similarity!r:.40}; cselab compares and saves for the cosine", stacklevel=2
        )
    options = {name: said[name] for name in OPTIONAL if said.get(name) is not None}
    _check_types(file, options, {name: OPTIONAL[name] for name in options})
    return options


def _own_settings(file: Path) -> FolderSettings:
    """The content of cselab.json, with the type of each setting checked."""
    kinds: FolderSettings = {
        "pooling": str,
        "representation": str,
        "max_length": int,
        "normalize": bool,
        "template": str | NoneType,
        "head": list,
    }
    settings = _read_object(file)
    kinds |= {name: kind for name, kind in OPTIONAL.items() if name in settings}
    _check_types(file, settings, kinds)
    unknown = sorted(settings.keys() - kinds.keys() - {"sha256", "prefix"})
    if unknown:
        raise CheckpointError(f"{file} has settings that are unknown to this version: {', '.join(unknown)}")
    return settings


def check_folder(path: Path) -> None:
    """Check a folder of cselab against its checksums; folders of other programs have no checksums.

    Raises:
        CheckpointError: a file was altered; the message names the file.
    """
    if (own := path / "cselab.json").exists():
        verify_checksums(own, _read_object(own))


def _pooling_name(path: Path) -> str:
    config = _read_object(path)
    modes = config.get("pooling_mode") or [
        key.removeprefix("pooling_mode_").removesuffix("_token").removesuffix("_tokens")
        for key, on in config.items()
        if key.startswith("pooling_mode_") and on
    ]
    modes = [modes] if isinstance(modes, str) else modes
    if not isinstance(modes, list) or not all(isinstance(mode, str) for mode in modes):
        raise CheckpointError(f"{path} is damaged: 'pooling_mode' is {modes!r:.40}; restore the file")
    names = {"cls": "cls", "mean": "mean", "lasttoken": "last_token"}
    if len(modes) != 1 or modes[0] not in names:
        raise CheckpointError(f"{path} pools by {', '.join(modes)}; understood are {', '.join(names)}")
    if not config.get("include_prompt", True):
        raise CheckpointError(f"{path} leaves the tokens of a prompt out of the pooling, which cselab does not support")
    _check_settings(path, "Pooling", config)
    return names[modes[0]]


def load_backbone(folder: Path) -> Any:
    """The transformer of a folder in float32; its pooler is None when the folder has no weights for one.

    Raises:
        CheckpointError: damaged, incomplete or missing files; the message names them.
    """
    from transformers import AutoConfig, AutoModel, AutoModelForTextEncoding
    from transformers.models.auto.modeling_auto import MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES

    if list(folder.glob("pytorch_model*.bin")) and not list(folder.glob("model*.safetensors")):
        raise CheckpointError(
            f"{folder} has its weights as pytorch_model.bin only, a pickle, which can run code when it is opened; "
            f"cselab reads only safetensors. If you trust it, convert it: {converting_line(str(folder))}"
        )
    try:
        with quiet_transformers():
            config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
            _check_config(folder, config)
            alone = MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES.get(config.model_type, "").endswith("EncoderModel")
            kind = AutoModelForTextEncoding if alone else AutoModel  # of T5 the encoder, without the decoder
            model, info = kind.from_pretrained(
                folder,
                config=config,
                dtype=torch.float32,
                use_safetensors=True,
                trust_remote_code=False,
                ignore_mismatched_sizes=True,  # reported below, by name
                output_loading_info=True,
            )
    except CheckpointError:
        raise
    except Exception as error:  # a damaged config raises whatever it meets first
        for file in sorted(folder.glob("model*.safetensors")):
            with checkpoint_errors(file), safe_open(file, framework="pt"):
                pass  # an unreadable file of weights is named
        raise CheckpointError(
            f"{folder} cannot be opened as an encoder ({reason_of(error)}); expected a config.json that transformers "
            "supports and complete safetensors weights"
        ) from None
    missing = set(info["missing_keys"])
    pooler = {key for key in missing if key.startswith("pooler.")}
    lost = sorted(missing - pooler)
    lost += sorted(f"{name} {list(stored)}, not {list(asked)}" for name, stored, asked in info["mismatched_keys"])
    if prefix := _common_prefix(lost, info["unexpected_keys"]):
        raise CheckpointError(
            f"{folder} has its weights under names that begin with {prefix!r}, as a wrapper saves them: save the model "
            "inside the wrapper, or rename them: {name.removeprefix("
            f"{prefix!r}): value for name, value in safetensors.torch.load_file(file).items()}}"
        )
    if lost:
        raise CheckpointError(
            f"{folder} lacks weights of its config, or has them in a different size ({_some(lost)}): the file was cut "
            "short, or its files belong to different models"
        )
    extra = sorted(name for name in info["unexpected_keys"] if _is_of_backbone(name, model))
    if extra:
        raise CheckpointError(
            f"{folder} has weights that are not in its config ({_some(extra)}): the config is of a smaller model; its "
            "files belong to different models"
        )
    if pooler:
        model.pooler = None
    if is_decoder(model):
        model.config.use_cache = False  # nothing is generated
    return model


def _common_prefix(missing: Sequence[str], unexpected: Iterable[str]) -> str:
    """The prefix under which all missing weights are stored, if there is one."""
    stored = set(unexpected)
    prefixes = [name.removesuffix(missing[0]) for name in stored if missing and name.endswith(f".{missing[0]}")]
    return next((prefix for prefix in prefixes if all(prefix + name in stored for name in missing)), "")


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + " ..." * (len(names) > 3)


def _check_config(folder: Path, config: Any) -> None:
    """Refuse NaN, and more layers than there are stored tensors: a thousand empty layers take minutes to make."""
    for name, value in vars(config).items():
        if value != value:
            raise CheckpointError(f"{folder / 'config.json'} is damaged: {name!r} is NaN; restore the file")
    layers, stored = getattr(config, "num_hidden_layers", 0), 0
    for file in folder.glob("model*.safetensors"):
        with safe_open(file, framework="pt") as weights:
            stored += len(weights.keys())
    if isinstance(layers, int) and layers > stored > 0:
        raise CheckpointError(
            f"{folder / 'config.json'} has {layers} layers, and the weights have {stored} tensors: its "
            "files belong to different models; restore them"
        )


LAYERS = ("encoder.layer.", "embeddings.", "layers.", "transformer.layer.", "encoder.block.")


def _is_of_backbone(name: str, model: nn.Module) -> bool:
    """Whether weights of this name would be the transformer's own: a further layer, and not a pretraining head."""
    own = name.removeprefix(f"{model.base_model_prefix}.")
    return own.startswith(LAYERS) and not own.endswith("position_ids")


def is_decoder(backbone: Any) -> bool:
    """Whether each token sees only earlier tokens, as in Llama, Qwen and Gemma."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as CAUSAL
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING_NAMES as MASKED

    config = backbone.config
    turned = getattr(config, "use_bidirectional_attention", False) or not getattr(config, "is_causal", True)
    return config.model_type in CAUSAL.keys() - MASKED.keys() and not turned


def load_masked_lm(folder: Path) -> nn.Module:
    """The transformer of a folder with its output layer, which guesses masked tokens; in float32.

    Raises:
        CheckpointError: no such layer in the folder, or files that cannot be read.
    """
    from transformers import AutoModelForMaskedLM

    try:
        with quiet_transformers():
            model, info = AutoModelForMaskedLM.from_pretrained(
                folder, dtype=torch.float32, use_safetensors=True, trust_remote_code=False, output_loading_info=True
            )
    except (SafetensorError, OSError, RuntimeError, ValueError) as error:
        raise CheckpointError(f"{folder} cannot be opened as a masked language model ({reason_of(error)})") from None
    if info["missing_keys"]:
        raise CheckpointError(f"{folder} is no masked language model: {_some(sorted(info['missing_keys']))} is missing")
    return model


def load_tokenizer(folder: Path) -> Any:
    """The fast tokenizer of a folder.

    Raises:
        CheckpointError: damaged or missing files.
    """
    from transformers import AutoTokenizer

    try:
        with quiet_transformers():
            tokenizer = AutoTokenizer.from_pretrained(folder, use_fast=True, trust_remote_code=False)
    except Exception as error:  # the tokenizers library raises nothing more particular
        raise CheckpointError(f"{folder} has no tokenizer that can be opened ({reason_of(error)})") from None
    if not tokenizer.is_fast:
        raise CheckpointError(
            f"{folder} has a tokenizer written in Python ({type(tokenizer).__name__}), but cselab needs a fast one "
            f"(tokenizer.json); to score the model, use evaluate(SentenceTransformer({str(folder)!r}), ...)"
        )
    if tokenizer.pad_token is None:  # of many decoders: masked positions have no influence
        tokenizer.pad_token = tokenizer.eos_token
    if tokenizer.pad_token is None:
        raise CheckpointError(f"{folder} has a tokenizer without a padding token: restore tokenizer_config.json")
    if set(tokenizer.get_vocab()) <= set(tokenizer.all_special_tokens):  # the result of transformers without a file
        raise CheckpointError(f"{folder} has no tokenizer: tokenizer.json or the vocabulary file is missing")
    file, most = folder / "tokenizer_config.json", tokenizer.model_max_length
    if not isinstance(most, int | float) or most <= tokenizer.num_special_tokens_to_add():
        raise CheckpointError(f"{file} leaves no room for a sentence: its model_max_length is {most}; restore the file")
    lower = (folder / "modules.json").exists() and _transformer_settings(folder)["do_lower_case"]
    if lower and not _lowers(tokenizer):  # of every text first, as sentence-transformers does
        steps = [normalizers.Lowercase(), *_normalizers(tokenizer)]
        tokenizer.backend_tokenizer.normalizer = normalizers.Sequence(steps)
    return tokenizer


def _lowers(tokenizer: Any) -> bool:
    """Whether the tokenizer lowers the case of its texts."""
    return any(
        isinstance(step, normalizers.Lowercase) or getattr(step, "lowercase", False) is True
        for step in _normalizers(tokenizer)
    )


def _normalizers(tokenizer: Any) -> list[Any]:
    """The steps of the tokenizer's normalizer, in their order."""
    normalizer: Any = tokenizer.backend_tokenizer.normalizer
    if type(normalizer) is normalizers.Sequence:
        return [normalizer[place] for place in range(len(normalizer))]
    return [] if normalizer is None else [normalizer]


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """No report of unused pretraining heads and no bar for the weights; errors are still raised."""
    from transformers.utils import logging as transformers_logging

    before = transformers_logging.get_verbosity()
    bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity(logging.ERROR)
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(before)
        if bars:
            transformers_logging.enable_progress_bar()
