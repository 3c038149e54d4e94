"""Adapters of peft on a transformer: added, merged into its weights, kept beside them.

    W' x = W x + (alpha / r) B A x,   A [r, in], B [out, r], B = 0 at first         LoRA, Hu et al. 2021, Eq. 3

W is frozen, A and B learn. `SentenceEncoder.add_adapter` is the door; peft is the optional extra `cselab[lora]`.
"""

import copy
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import nn

FOLDER = "adapter"  # of a saved encoder, with the adapters as peft writes them
ALPHA = 2  # alpha / r where a rank alone is given


def has_adapters(backbone: Any) -> bool:
    """Whether adapters were added to this transformer."""
    return bool(getattr(backbone, "peft_config", None))


def add_adapter(backbone: Any, adapter: Any, seed: int) -> None:
    """Put adapters into the backbone, in place: of that rank, or of a config of peft. Its own weights are frozen.

    Raises:
        ModuleNotFoundError: peft is not installed.
        ValueError: a rank below 1; adapters that are there already; a config that fits no layer of this transformer.
    """
    try:
        from peft import LoraConfig
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("adapters need peft: pip install 'cselab[lora]'", name=error.name) from None
    if has_adapters(backbone):
        raise ValueError("this encoder has adapters already: open it again, or train those that it has")
    if isinstance(adapter, int):
        if adapter < 1:
            raise ValueError(f"the rank of adapters must be at least 1, got {adapter}: of rank 0 they change nothing")
        unread = ["pooler.dense"] if getattr(backbone, "pooler", None) is not None else None
        adapter = LoraConfig(r=adapter, lora_alpha=ALPHA * adapter, target_modules="all-linear", exclude_modules=unread)
    if getattr(adapter, "modules_to_save", None):
        raise ValueError("modules_to_save is not known here: adapters learn alone, beside the head of a method")
    learning = {name: weight.requires_grad for name, weight in backbone.named_parameters()}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            backbone.add_adapter(copy.deepcopy(adapter))
        except ValueError as error:
            for name, weight in backbone.named_parameters():
                weight.requires_grad_(learning[name])
            _forget(backbone)
            linear = [name for name, layer in backbone.named_modules() if isinstance(layer, nn.Linear)]
            raise ValueError(
                f"no adapters were added to {type(backbone).__name__}: {error} Its linear layers are "
                f"{', '.join(dict.fromkeys(name.rpartition('.')[2] for name in linear))}"
            ) from None


def merged(backbone: Any) -> Any:
    """A copy whose weights have the adapters in them, W + (alpha / r) B A: a plain transformer again."""
    from peft.tuners.tuners_utils import BaseTunerLayer

    plain = copy.deepcopy(backbone)
    for name, layer in list(plain.named_modules()):
        if isinstance(layer, BaseTunerLayer):
            layer.merge()
            parent, _, child = name.rpartition(".")
            setattr(plain.get_submodule(parent), child, layer.get_base_layer())
    _forget(plain)
    return plain


def load_adapter(backbone: Any, folder: Path) -> None:
    """Give the adapters of this backbone the weights in the folder of a saved encoder."""
    from peft import set_peft_model_state_dict

    set_peft_model_state_dict(backbone, load_file(folder / FOLDER / "adapter_model.safetensors"))


def adapter_settings(backbone: Any) -> dict[str, Any]:
    """What was chosen of the adapters' config: all that is not peft's default. JSON-able."""
    (config,) = backbone.peft_config.values()
    defaults = type(config)().to_dict()
    chosen = {name: value for name, value in config.to_dict().items() if value != defaults.get(name)}
    chosen.pop("base_model_name_or_path", None)  # the encoder's name and weights say it
    return {name: sorted(value) if isinstance(value, set) else value for name, value in chosen.items()} | {
        "peft_type": config.peft_type.value
    }


def _forget(backbone: Any) -> None:
    """Let transformers take it for a model without adapters."""
    backbone.__dict__.pop("peft_config", None)
    backbone._hf_peft_config_loaded = False
