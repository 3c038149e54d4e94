"""A text as token ids: a WordPiece tokenizer trained on it, and the flat array that pretraining reads."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from cselab.data import read_sentences
from cselab.encoders.folder import load_tokenizer

TOKENIZER_SENTENCES = 300_000  # of each file
ALPHABET = 200  # letters at most; words with another are [UNK]
SPECIAL_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


@dataclass(frozen=True)
class TokenizedCorpus:
    """Sentences as one flat array of token ids and the offsets where each begins."""

    ids: np.ndarray
    starts: np.ndarray
    neighbours: bool

    def beginnings(self, length: int) -> int:
        """How many sentences, counted from the first, a row of `length` tokens can begin with."""
        fitting = np.searchsorted(self.starts, len(self.ids) - length, side="right")
        if self.neighbours and fitting:  # the sentence that continues must fit too
            fitting = np.searchsorted(self.starts, self.starts[fitting - 1] - length // 2, side="right")
        return int(fitting)

    def passage(self, start: int, room: int) -> np.ndarray:
        """`room` tokens, across sentences."""
        return self.ids[start : start + room]


def token_counts(tokenizer: Any, corpora: Sequence[TokenizedCorpus]) -> Int[np.ndarray, " v"]:
    """How often each token of the vocabulary occurs in the corpora."""
    return np.sum([np.bincount(corpus.ids, minlength=len(tokenizer)) for corpus in corpora], axis=0)


def smooth_inverse_frequency(counts: Int[np.ndarray, " v"], a: float) -> Float[np.ndarray, " v"]:
    """a / (a + the token's share of the text), in (0, 1]: small for "the" (Arora et al. 2017)."""
    return a / (a + counts / counts.sum())


def train_tokenizer(sentences: Iterable[str], vocabulary: int = 8192) -> Any:
    """An uncased WordPiece tokenizer with BERT's normalisation and its [CLS] ... [SEP] template.

    The same for the same sentences. tokenizers numbers letters in the order of a hash table, another in each call, and
    decides by these numbers which of two equally frequent pairs is merged; here letters are numbered beforehand.
    """
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import BertTokenizer

    def reading(model: Any) -> Any:
        tokenizer = Tokenizer(model)
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        return tokenizer

    learner = reading(models.WordPiece(unk_token="[UNK]"))
    lines = [_short_words(learner, sentence) for sentence in sentences]
    letters = _letters(lines)
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary,
        special_tokens=[*SPECIAL_TOKENS, *letters],
        initial_alphabet=[letter for letter in letters if len(letter) == 1],
        limit_alphabet=ALPHABET,
        show_progress=False,
    )
    learner.train_from_iterator(map(" ".join, lines), trainer)
    tokenizer = reading(models.WordPiece(learner.get_vocab(), unk_token="[UNK]"))
    tokenizer.add_special_tokens(SPECIAL_TOKENS)
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")],
    )
    return BertTokenizer(tokenizer_object=tokenizer, do_lower_case=True, model_max_length=128)


def _short_words(tokenizer: Any, sentence: str) -> list[str]:
    """The words of a sentence but those that WordPiece reads as [UNK] for their length: nothing is to learn there."""
    words = tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(sentence))
    return [word for word, _ in words if len(word) <= tokenizer.model.max_input_chars_per_word]


def _letters(lines: Sequence[list[str]]) -> list[str]:
    """The most frequent letters, those of one count by the alphabet, and ##letter for those inside words."""
    counts = Counter(chain.from_iterable(chain.from_iterable(lines)))
    kept = sorted(sorted(counts, key=lambda letter: (-counts[letter], letter))[:ALPHABET])
    inside = {letter for line in lines for word in line for letter in word[1:]}
    return [*kept, *(f"##{letter}" for letter in kept if letter in inside)]


def tokenize_corpus(tokenizer: Any, sentences: Iterable[str], *, neighbours: bool) -> TokenizedCorpus:
    """Token ids of a whole corpus, without special tokens, in 16 bits each.

    Raises:
        ValueError: a vocabulary that 16 bits cannot number.
    """
    if len(tokenizer) > 2**16:
        raise ValueError(f"the tokenizer has {len(tokenizer)} tokens; at most {2**16} can be numbered")
    pieces, lengths = [], []
    for batch in _batched(sentences, 10_000):
        for encoding in tokenizer.backend_tokenizer.encode_batch_fast(batch, add_special_tokens=False):
            pieces.append(np.asarray(encoding.ids, dtype=np.uint16))
            lengths.append(len(encoding.ids))
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    return TokenizedCorpus(np.concatenate(pieces), starts, neighbours)


def _batched(items: Iterable[str], size: int) -> Iterator[list[str]]:
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def prepared_tokenizer(prepared: Path, files: Sequence[Path], vocabulary: int, given: Path | None) -> Any:
    """The tokenizer of a run: the given one, the one kept in `prepared`, or one trained on the files and kept."""
    kept = prepared / "tokenizer"
    if given is None and not kept.exists():
        print("pretrain: training a tokenizer", flush=True)
        sample = chain.from_iterable(islice(read_sentences(file), TOKENIZER_SENTENCES) for file in files)
        partial = prepared / "tokenizer.part"
        train_tokenizer(sample, vocabulary).save_pretrained(partial)
        os.replace(partial, kept)
    return load_tokenizer(given or kept)


def prepared_corpus(kept: Path, file: Path, tokenizer: Any, neighbours: bool) -> TokenizedCorpus:
    """The token ids of a file, kept in `kept` for a run that is started again."""
    if not kept.exists():
        print(f"pretrain: tokenizing {file}", flush=True)
        corpus = tokenize_corpus(tokenizer, read_sentences(file), neighbours=neighbours)
        partial = kept.with_suffix(".part.npz")
        np.savez(partial, ids=corpus.ids, starts=corpus.starts)
        os.replace(partial, kept)
    arrays = np.load(kept, allow_pickle=False)
    return TokenizedCorpus(arrays["ids"], arrays["starts"], neighbours)
