"""Vectors of entities from the words around them, as Wikipedia2Vec's skip-gram learns them from links."""

import re
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor


def entity_contexts(sentences: Sequence[str], named: Sequence[str], width: int) -> dict[str, Float[Tensor, " k"]]:
    """A vector for each entity, from the words of the sentences that mention it.

        M[e, w] = max(0, log( #(e, w) #(all) / (#(e) #(w)) )),   M = U S V',   vectors = the first columns of U sqrt(S)

    The words of an entity's own name are left out. Wikipedia2Vec (Yamada et al. 2016) learns to predict the words
    around a link from the entity that it leads to, by skip-gram with negative sampling; that factorises this matrix,
    shifted by the log of the number of samples (Levy and Goldberg 2014). Here it is done directly, with nothing drawn.
    cselab omits Wikipedia2Vec's remaining parts, skip-gram of words and the graph of links between pages.

    Args:
        sentences: texts.
        named: the entity that each of them mentions.
        width: the largest k; fewer with fewer entities.

    Returns:
        By entity; entities without context words are omitted. Entities with similar contexts are near each other.

    >>> told = ["Ann sings a song", "Bo sings her song", "Rome has old walls"]
    >>> vectors = entity_contexts(told, ["Ann", "Bo", "Rome"], 8)
    >>> bool(vectors["Ann"] @ vectors["Bo"] > 0.1), round(abs(float(vectors["Ann"] @ vectors["Rome"])), 4)
    (True, 0.0)
    """
    entities = {name: row for row, name in enumerate(dict.fromkeys(named))}
    own = {name: set(_words(name)) for name in entities}
    pairs = [(name, word) for text, name in zip(sentences, named, strict=True) for word in _words(text)
             if word not in own[name]]  # fmt: skip
    words = {word: column for column, word in enumerate(dict.fromkeys(word for _, word in pairs))}
    counts = torch.zeros(len(entities), max(1, len(words)), dtype=torch.float64)
    for name, word in pairs:
        counts[entities[name], words[word]] += 1
    by_chance = counts.sum(1, keepdim=True) * counts.sum(0) / counts.sum()
    information = torch.where(counts > 0, (counts / by_chance).log().clamp(min=0), 0.0)
    left, size, _ = torch.linalg.svd(information, full_matrices=False)
    turned = left * left.gather(0, left.abs().argmax(0, keepdim=True)).sign()  # else the sign is the library's choice
    vectors = (turned * size.sqrt())[:, :width].float()
    return {name: vectors[row] for name, row in entities.items() if information[row].any()}


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
