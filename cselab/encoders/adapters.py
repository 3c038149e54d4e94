"""Adapters of peft on a transformer: added, merged into its weights, or saved separately.

    W' x = W x + (alpha / r) B A x,   A [r, in], B [out, r], B = 0 at first         LoRA, Hu et al. 2021, Eq. 3

W is frozen, A and B learn. `SentenceEncoder.add_adapter` adds them and needs peft.
"""

import copy
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from safetensors.torch import load_file
from torch import Tensor, nn

from .text import TokenizedBatch, first_position

FOLDER = "adapter"  # of a saved encoder, with the adapters as peft writes them
ALPHA = 2  # alpha / r if only a rank is given


def add_adapter(backbone: Any, adapter: Any, seed: int) -> None:
    """Add adapters to the backbone in place, with this rank or this config of peft, and freeze the weights of the
    backbone.

    Raises:
        ModuleNotFoundError: peft is not installed.
        ValueError: a rank below 1; a config that fits no layer of this transformer.
    """
    try:
        from peft import LoraConfig
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("adapters need peft: pip install peft", name=error.name) from None
    if isinstance(adapter, int):
        if adapter < 1:
            raise ValueError(f"the rank of adapters must be at least 1, got {adapter}: with rank 0 they change nothing")
        unread = ["pooler.dense"] if getattr(backbone, "pooler", None) is not None else None
        adapter = LoraConfig(r=adapter, lora_alpha=ALPHA * adapter, target_modules="all-linear", exclude_modules=unread)
    if getattr(adapter, "modules_to_save", None):
        raise ValueError("modules_to_save is not supported: only adapters and the head of a method are trained")
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
    """The chosen settings of the adapters' config: all that differ from peft's defaults. JSON-able."""
    (config,) = backbone.peft_config.values()
    defaults = type(config)().to_dict()
    chosen = {name: value for name, value in config.to_dict().items() if value != defaults.get(name)}
    chosen.pop("base_model_name_or_path", None)  # the encoder's name and weights have it
    return {name: sorted(value) if isinstance(value, set) else value for name, value in chosen.items()} | {
        "peft_type": config.peft_type.value
    }


def _forget(backbone: Any) -> None:
    """Let transformers treat the model as one without adapters."""
    backbone.__dict__.pop("peft_config", None)
    backbone._hf_peft_config_loaded = False


class DeepPrefix(nn.Module):
    """Key and value vectors for each layer of a transformer: prefix tuning, as DCPCSE has it.

        attention_l( q, [P_l^K ; K], [P_l^V ; V] )       in every layer l, P_l the same for all sentences

    In training each row applies dropout to the prefix as to its embedding. The sentence's tokens keep their
    positions; in DCPCSE's code they begin behind the prefix. The prefix belongs to the encoder
    (`SentenceEncoder.prefix`): part of its weights, its hash and its folder. transformers and
    sentence-transformers cannot apply it.

    Args:
        keys, values: `[layers, heads, length, width of a head]`.

    See also: `DeepPrefix.fresh`, a prefix to train; `cselab.methods.DCPCSE`, which trains one.
    """

    def __init__(self, keys: Float[Tensor, "layers heads p w"], values: Float[Tensor, "layers heads p w"]) -> None:
        super().__init__()
        self.keys, self.values = nn.Parameter(keys), nn.Parameter(values)

    @classmethod
    def fresh(cls, backbone: Any, length: int, generator: torch.Generator) -> "DeepPrefix":
        """`length` vectors for each layer of the backbone, normal with a standard deviation of 0.02.

        Raises:
            ValueError: a network that is not a BERT, a RoBERTa or similar.
        """
        config = backbone.config
        if not hasattr(getattr(backbone, "embeddings", None), "position_embeddings"):
            raise ValueError(
                f"a prefix of keys and values goes before BERT's and RoBERTa's layers; {type(backbone).__name__} has "
                "different layers: train it with a different method, such as simcse"
            )
        width = config.hidden_size // config.num_attention_heads
        shape = (config.num_hidden_layers, config.num_attention_heads, length, width)
        return cls(*(torch.randn(shape, generator=generator) * 0.02 for _ in range(2)))

    def before(self, features: TokenizedBatch, backbone: Any) -> dict[str, Any]:
        """The backbone's inputs for these tokens with the prefix before them."""
        from transformers import DynamicCache

        mask, cache = features["attention_mask"], DynamicCache()
        rate = backbone.embeddings.dropout.p
        for layer, pair in enumerate(zip(self.keys, self.values, strict=True)):
            keys, values = (F.dropout(part.expand(len(mask), *part.shape), rate, backbone.training) for part in pair)
            cache.update(keys, values, layer)
        places = first_position(backbone) + torch.arange(mask.shape[1], device=mask.device)
        seen = torch.cat([mask.new_ones(len(mask), self.keys.shape[2]), mask], dim=1)
        ours = {"past_key_values": cache, "attention_mask": seen}
        return {"position_ids": places.expand_as(mask), **features, **ours}

    @classmethod
    def load(cls, *_: Any, **__: Any) -> None:
        """Called by sentence-transformers when it opens the folder of an encoder with a prefix.

        Raises:
            ValueError: always; names the function that opens the folder.
        """
        raise ValueError(
            "this encoder has a deep prefix, which sentence-transformers cannot apply; without the prefix, the vectors "
            "differ: open it with cselab.SentenceEncoder.from_pretrained"
        )
