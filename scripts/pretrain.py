"""Pretrain a plain BERT of your own on text: masked words, from random weights or from word vectors of the same text.

    python scripts/pretrain.py OUTPUT --corpus enwiki.txt.xz --corpus simplewiki.txt.xz --set steps=14000
    python scripts/pretrain.py STAGE_1 --corpus enwiki.txt.xz --set word_vectors=true --set decay=0
    python scripts/pretrain.py STAGE_2 --corpus enwiki.txt.xz --set word_vectors=true --start STAGE_1 --set seed=1

A GPU does the work of a step without waiting for Python: the text lies on the device as token ids, and the rows and
the masks of a step are drawn there. They depend on (seed, step) alone, so a killed run ends as one that was not. OUTPUT
is an encoder after each checkpoint: what is finished stays. `log.jsonl` in it has the curve and the tokens a second;
a run of 100 steps shows how many steps a given time allows.
"""

import json
import math
import os
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import click
import numpy as np
import torch
import torch.nn.functional as F
from cselab_lab.cli.frame import HELP, Command
from cselab_lab.cli.options import PATH, TEXT_FILE, argument, read_settings, settings
from cselab_lab.parameters import typed_parameters
from jaxtyping import Float, Int
from safetensors.torch import load_file, save_file
from torch import Tensor

from cselab._util.checksums import sha256_of
from cselab._util.progress import Progress, say
from cselab._util.versions import versions
from cselab.data import read_sentences
from cselab.encoders.folder import load_tokenizer, quiet_transformers
from cselab.training.loop import backward, seed_from, update
from cselab.training.run_folder import RunFolder, load_state, save_state

SPECIAL_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TOKENIZER_SENTENCES = 300_000  # of each file
ALPHABET = 200  # letters at most; words with another are [UNK]


@dataclass(frozen=True)
class PretrainConfig:
    """The shape of the encoder and its training: `steps` steps of `batch_size` packed rows of `length` tokens."""

    layers: int = 6
    width: int = 384
    heads: int = 6
    vocabulary: int = 16_000
    length: int = 128
    positions: int = 0  # rows of the position table; 0: as many as `length`
    word_vectors: bool = False  # the embeddings are counted (PPMI) and stay; words are predicted by a table of its own
    steps: int = 14_000
    batch_size: int = 512
    lr: float = 1e-3
    warmup: float = 0.05
    decay: float = 1.0  # share of the steps after the warm-up in which lr falls to 0; 0: lr stays, for a later stage
    weight_decay: float = 0.01
    mask_share: float = 0.15
    seed: int = 0
    checkpoint_every: int = 1000
    log_every: int = 100
    compiled: bool = False
    bfloat16: bool = False  # on a CPU (twice as fast where it has AMX); a GPU always computes in it


@dataclass(frozen=True)
class Corpus:
    """Sentences as one row of token ids, and where each sentence begins that a whole row can follow."""

    ids: Int[Tensor, " tokens"]
    starts: Int[Tensor, " sentences"]

    def to(self, device: torch.device) -> "Corpus":
        return Corpus(self.ids.to(device), self.starts.to(device))


def draw_batch(
    corpus: Corpus, tokenizer: Any, config: PretrainConfig, step: int
) -> tuple[Int[Tensor, "b l"], Int[Tensor, "b m"], Int[Tensor, "b m"]]:
    """The rows of a step with masks in them, the masked places, and the tokens that stood there (Devlin et al. 2019).

    A row is [CLS], the tokens from the start of a random sentence on, and [SEP]. `mask_share` of it is masked: 80 %
    [MASK], 10 % a random token, 10 % the token itself.
    """
    device, (size, length) = corpus.ids.device, (config.batch_size, config.length)
    random = torch.Generator(device).manual_seed(seed_from(config.seed, step))
    chosen = corpus.starts[torch.randint(len(corpus.starts), (size, 1), generator=random, device=device)]
    rows = F.pad(corpus.ids[chosen + torch.arange(length - 2, device=device)].long(), (1, 1))
    rows[:, 0], rows[:, -1] = tokenizer.cls_token_id, tokenizer.sep_token_id
    count = max(1, round(config.mask_share * length))
    places = 1 + torch.rand(size, length - 2, generator=random, device=device).topk(count).indices
    labels = rows.gather(1, places)
    kind = torch.rand(size, count, generator=random, device=device)
    others = torch.randint(len(SPECIAL_TOKENS), len(tokenizer), (size, count), generator=random, device=device)
    shown = torch.where(kind < 0.8, tokenizer.mask_token_id, torch.where(kind < 0.9, others, labels))
    return rows.scatter(1, places, shown), places, labels


def masked_word_loss(
    model: Any, rows: Int[Tensor, "b l"], places: Int[Tensor, "b m"], labels: Int[Tensor, "b m"]
) -> Float[Tensor, ""]:
    """Cross-entropy of the masked words in nats; logits are computed at the masked places only."""
    hidden = model.bert(input_ids=rows).last_hidden_state
    masked = hidden.gather(1, places[..., None].expand(-1, -1, hidden.shape[-1]))
    return F.cross_entropy(model.cls(masked).flatten(0, 1).float(), labels.flatten())


WINDOW = 5  # tokens on each side
SMOOTHING = 0.75  # power of the context counts (Levy et al. 2015)
RARE = 20  # tokens that occur less often get a random vector
VECTOR_LENGTH = 0.8


def word_vectors(corpus: Corpus, vocabulary: int, width: int, seed: int = 0) -> Float[Tensor, "v w"]:
    """Unit vectors of the tokens: left singular vectors of their positive pointwise mutual information (PPMI).

    PPMI(a, b) = max(0, log p(a, b) - log p(a) - log p'(b)) over pairs of at most `WINDOW` tokens apart in one sentence,
    where p' is proportional to the counts to the power `SMOOTHING` (Levy, Goldberg and Dagan 2015).
    """
    ids = corpus.ids.cpu().numpy()
    first = np.zeros(len(ids), dtype=np.int32)
    first[corpus.starts.cpu().numpy()] = 1
    sentence = np.cumsum(first)
    table = np.zeros(vocabulary * vocabulary, dtype=np.int32)
    for start in range(0, len(ids), 5_000_000):
        part = slice(start, start + 5_000_000 + WINDOW)
        tokens, of = ids[part].astype(np.int64), sentence[part]
        for distance in range(1, WINDOW + 1):
            left = slice(0, max(0, min(5_000_000, len(tokens) - distance)))
            right = slice(distance, distance + left.stop)
            same = of[left] == of[right]
            np.add.at(table, tokens[left][same] * vocabulary + tokens[right][same], 1)
    counts = torch.from_numpy(table).view(vocabulary, vocabulary).float()
    counts = counts + counts.T
    total, words = counts.sum(), counts.sum(dim=1)
    contexts = words**SMOOTHING / (words**SMOOTHING).sum()
    information = (counts / total).log() - (words / total).log()[:, None] - contexts.log()
    information = torch.where(counts > 0, information, 0.0).clamp(min=0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        vectors = torch.svd_lowrank(information, q=min(vocabulary, width + 44), niter=4)[0][:, :width]
        vectors = F.normalize(vectors, dim=1)
        rare = torch.bincount(corpus.ids.int().cpu(), minlength=vocabulary) < RARE
        vectors[rare] = F.normalize(torch.randn(int(rare.sum()), width), dim=1)
    return vectors


def new_model(tokenizer: Any, config: PretrainConfig, corpus: Corpus, vectors: Tensor | None = None) -> Any:
    """A random BERT without dropout; its first predictions are how often each token occurs.

    With `vectors`, the embeddings are these vectors and do not learn, and the table of predictions starts from them.
    """
    from transformers import BertConfig, BertForMaskedLM

    shape = BertConfig(
        vocab_size=len(tokenizer), hidden_size=config.width, num_hidden_layers=config.layers,
        num_attention_heads=config.heads, intermediate_size=4 * config.width,
        max_position_embeddings=config.positions or config.length, tie_word_embeddings=vectors is None,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    if config.positions > config.length:
        shape.trained_positions = config.length  # cselab warns of longer sentences
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        model = BertForMaskedLM(shape)
    counts = torch.bincount(corpus.ids.int(), minlength=len(tokenizer)) + 1
    model.cls.predictions.decoder.bias.data.copy_((counts / counts.sum()).log())
    if vectors is not None:
        model.get_input_embeddings().weight.data.copy_(VECTOR_LENGTH * vectors)
        model.get_output_embeddings().weight.data.copy_(0.5 * vectors)
    return model


def pretrain(tokenizer: Any, corpus: Corpus, config: PretrainConfig, output: Path, model: Any) -> None:
    """Train `model` with AdamW; resume from `output/checkpoint.safetensors`.

    A GPU computes in bfloat16, and a CPU if `config` says so.

    Raises:
        ValueError: `output` holds a run with other settings.
        FloatingPointError: a loss of NaN or infinity; the last checkpoint stays.
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    corpus = corpus.to(device)
    model = model.to(device)
    if device.type == "cpu":
        model.set_attn_implementation("eager")  # a fifth faster than sdpa in bfloat16
    if config.word_vectors:
        model.get_input_embeddings().weight.requires_grad_(False)
    if config.compiled:
        model.bert.compile()
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    decayed = [weight for weight in trained if weight.ndim > 1]
    others = [weight for weight in trained if weight.ndim == 1]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": config.weight_decay}, {"params": others, "weight_decay": 0.0}],
        lr=config.lr, betas=(0.9, 0.98), fused=True,
    )  # fmt: skip
    warmup = max(1, round(config.warmup * config.steps))
    falling = config.decay * max(1, config.steps - warmup)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, (step + 1) / warmup, (config.steps - step) / falling if falling else 1)
    )
    checkpoint, log = output / "checkpoint.safetensors", output / "log.jsonl"
    parts = {"model": model, "optimizer": optimizer, "schedule": schedule}
    done, began = 0, time.monotonic()
    if checkpoint.exists():
        info = load_state(checkpoint, parts, asdict(config))
        done, began = info["step"], began - info["seconds"]
        say(f"pretrain: continues from step {done} of {config.steps}")
    losses: list[Tensor] = []
    with Progress(config.steps, "pretrain", lines=100, done=done) as progress:
        for step in range(done + 1, config.steps + 1):
            with torch.autocast(device.type, torch.bfloat16, enabled=config.bfloat16 or device.type == "cuda"):
                loss = masked_word_loss(model, *draw_batch(corpus, tokenizer, config, step))
            backward(loss, trained, clip=1.0)
            update(optimizer, schedule)
            losses.append(loss.detach())
            seconds, note = time.monotonic() - began, ""
            save = step % config.checkpoint_every == 0 or step == config.steps
            if step % config.log_every == 0 or save:
                mean = torch.stack(losses).mean().item()
                if not math.isfinite(mean):
                    raise FloatingPointError(f"the loss is {mean} at step {step}; try a lower lr")
                tokens = step * config.batch_size * config.length
                row = {"step": step, "tokens": tokens, "loss": round(mean, 4), "seconds": round(seconds, 1)}
                with open(log, "a", encoding="utf-8") as file:  # a resumed run repeats rows: the last of a step counts
                    file.write(json.dumps(row) + "\n")
                note = f"loss {mean:.3f}, {tokens / seconds:,.0f} tokens a second"
                losses.clear()
            if save:
                save_state(checkpoint, parts, step=step, seconds=seconds, identity=asdict(config))
                export(model, tokenizer, output)
            progress.update(note=note)


def export(model: Any, tokenizer: Any, output: Path) -> None:
    """Write the encoder in float16, with dropout 0.1 in its config for fine-tuning."""
    tied = {"cls.predictions.decoder.weight"} if model.config.tie_word_embeddings else set()  # the token table again
    weights = {name: weight.half() for name, weight in model.state_dict().items() if name not in tied}
    kept = model.config.to_dict()
    model.config.hidden_dropout_prob = model.config.attention_probs_dropout_prob = 0.1
    with quiet_transformers():
        model.save_pretrained(output, state_dict=weights)
    for name in ("hidden_dropout_prob", "attention_probs_dropout_prob"):
        setattr(model.config, name, kept[name])
    tokenizer.save_pretrained(output)


def train_tokenizer(sentences: Iterable[str], vocabulary: int) -> Any:
    """An uncased WordPiece tokenizer with BERT's normalisation and its [CLS] ... [SEP] template.

    The same for the same sentences: tokenizers numbers letters in the order of a hash table, which differs in each
    call, and uses these numbers to merge one of two equally frequent pairs. Here letters are numbered beforehand.
    """
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import BertTokenizer

    def with_rules(model: Any) -> Any:
        tokenizer = Tokenizer(model)
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        return tokenizer

    learner = with_rules(models.WordPiece(unk_token="[UNK]"))
    longest = learner.model.max_input_chars_per_word  # longer words are [UNK]
    normal = (learner.pre_tokenizer.pre_tokenize_str(learner.normalizer.normalize_str(text)) for text in sentences)
    lines = [[word for word, _ in words if len(word) <= longest] for words in normal]
    counts = Counter(chain.from_iterable(chain.from_iterable(lines)))
    letters = sorted(sorted(counts, key=lambda letter: (-counts[letter], letter))[:ALPHABET])
    inside = {letter for line in lines for word in line for letter in word[1:]}
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary,
        special_tokens=[*SPECIAL_TOKENS, *letters, *(f"##{letter}" for letter in letters if letter in inside)],
        initial_alphabet=letters,
        limit_alphabet=ALPHABET,
        show_progress=False,
    )
    learner.train_from_iterator(map(" ".join, lines), trainer)
    tokenizer = with_rules(models.WordPiece(learner.get_vocab(), unk_token="[UNK]"))
    tokenizer.add_special_tokens(SPECIAL_TOKENS)
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")],
    )
    return BertTokenizer(tokenizer_object=tokenizer, do_lower_case=True, model_max_length=128)


def tokenize(tokenizer: Any, sentences: Iterable[str], length: int) -> Corpus:
    """The token ids of all sentences, one after another, for rows of `length` tokens.

    Raises:
        ValueError: a text shorter than one row, or a vocabulary of more than 32,768 tokens.
    """
    if len(tokenizer) > 2**15:
        raise ValueError(f"the vocabulary has {len(tokenizer)} tokens; at most {2**15} are possible")
    pieces: list[np.ndarray] = []
    left = iter(sentences)
    while some := list(islice(left, 10_000)):
        encoded = tokenizer.backend_tokenizer.encode_batch_fast(some, add_special_tokens=False)
        pieces += (np.asarray(sentence.ids, dtype=np.int16) for sentence in encoded)
    ends = np.cumsum([len(piece) for piece in pieces])
    starts = np.concatenate([[0], ends[:-1]])
    starts = starts[starts + length - 2 <= ends[-1]]
    if not len(starts):
        raise ValueError(f"the corpus has {ends[-1]} tokens, too few for a row of {length}: give a longer text")
    return Corpus(torch.from_numpy(np.concatenate(pieces)), torch.from_numpy(starts))


def start_of(folder: Path, tokenizer: Any, config: PretrainConfig, corpus: Corpus, start: Path | None) -> Any:
    """The model before the first step: that of the stage before, or a new one."""
    from transformers import BertForMaskedLM

    if start is not None:
        with quiet_transformers():
            model = BertForMaskedLM.from_pretrained(
                start, dtype=torch.float32, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
            )
        found = (model.config.num_hidden_layers, model.config.hidden_size, model.config.num_attention_heads)
        if found != (wanted := (config.layers, config.width, config.heads)):
            raise ValueError(
                f"{start} has layers, width and heads {found}, the settings have {wanted}: give --set layers=..."
            )
        return model
    if not config.word_vectors:
        return new_model(tokenizer, config, corpus)
    kept = folder / "word_vectors.safetensors"
    if not kept.exists():
        click.echo("pretrain: counting word vectors")
        partial = folder / "word_vectors.part"
        save_file({"vectors": word_vectors(corpus, len(tokenizer), config.width, config.seed)}, partial)
        os.replace(partial, kept)
    return new_model(tokenizer, config, corpus, load_file(kept)["vectors"])


def pretrain_from_files(
    output: Path,
    files: Sequence[Path],
    config: PretrainConfig,
    tokenizer: Path | None = None,
    start: Path | None = None,
) -> Path:
    """`pretrain` on text files, one sentence a line; a finished run is left as it is.

    Args:
        output: the folder of the run.
        files: the text.
        config: the settings.
        tokenizer: a folder with a tokenizer to use; by default one is trained, or that of `start` is used.
        start: an encoder of this script, with the same shape, from whose weights the run starts: the stage before.

    Raises:
        ValueError: no file; `output` cannot be written, is in use, or holds a run with other settings.
        DataError: a file that is missing, empty, damaged or not UTF-8.
    """
    if not files:
        raise ValueError("no corpus: give at least one --corpus FILE")
    for file in files:
        read_sentences(file)  # a missing or empty one is an error before anything is made
    identity = {"config": asdict(config), "corpora": [sha256_of(file) for file in files]}
    if start is not None:
        identity["start"] = sha256_of(start / "model.safetensors")
        tokenizer = tokenizer or start
    with RunFolder(output).locked() as folder:
        run = folder.reserve(identity)
        if run["finished"]:
            return folder.path
        kept = tokenizer or folder.path / "tokenizer"
        if not kept.exists():
            click.echo("pretrain: training a tokenizer")
            partial = folder.path / "tokenizer.part"
            sample = chain.from_iterable(islice(read_sentences(file), TOKENIZER_SENTENCES) for file in files)
            train_tokenizer(sample, config.vocabulary).save_pretrained(partial)
            os.replace(partial, kept)
        words = load_tokenizer(kept)
        click.echo("pretrain: reading the corpus")
        corpus = tokenize(words, chain.from_iterable(map(read_sentences, files)), config.length)
        model = start_of(folder.path, words, config, corpus, start)
        pretrain(words, corpus, config, folder.path, model)
        folder.finish(run | {"finished": True, "versions": versions()})
    return folder.path


@click.command(cls=Command, context_settings=HELP)
@argument("output", type=PATH, help="folder of the run; afterwards a plain encoder")
@click.option("--corpus", multiple=True, type=TEXT_FILE, help="text, one sentence a line; may be repeated")
@click.option("--tokenizer", type=PATH, help="folder of a tokenizer; without it one is trained")
@click.option("--start", type=PATH, help="folder of the stage before: its weights and tokenizer")
@settings
def app(
    output: Path, corpus: Sequence[Path], tokenizer: Path | None, start: Path | None, settings: Sequence[str]
) -> None:
    """Pretrain a plain BERT on masked words.

    Where OUTPUT holds an unfinished run, the run is continued. --set takes the fields of PretrainConfig: layers, width,
    heads, vocabulary, length, steps, batch_size, lr ...
    """
    defaults = asdict(PretrainConfig())
    config = PretrainConfig(**{**defaults, **typed_parameters("pretrain", defaults, read_settings(settings))})
    click.echo(f"plain encoder in {pretrain_from_files(output, corpus, config, tokenizer, start)}")


if __name__ == "__main__":
    app()
