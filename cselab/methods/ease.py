"""EASE (Nishikawa et al. 2022): a sentence is pulled towards the entity that it mentions."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from cselab.data import read_rows
from cselab.losses import Loss, info_nce
from cselab.methods import Contrastive, Encode, Head, Recipe, Rows, Setup, Vectors, Views, register
from cselab.methods.components import entity_contexts
from cselab.methods.hyperparameters import NonNegativeFloat, PositiveFloat


@register("ease", "EASE")
class EASE(Contrastive):
    """SimCSE, and a contrast between sentences and vectors of entities.

        l = InfoNCE + weight * CE_i( s(h_i, g_i) | s(h_i, g_j), s(h_i, g'_j) + [i = j] hard_negative_weight )
        g = tanh(A e),   s = cos / entity_temperature

    e_i: the learnt vector of the entity in sentence i; e'_i: of a different entity of the same kind. The released
    `entity_temperature` is 100, at which that term hardly separates entities.

    Rows: sentence, entity, other_entity. `vectors` defines the initial vectors. The paper's vectors come from
    Wikipedia2Vec, learnt on all of Wikipedia and its links. "contexts", the default, learns them only from the rows:
    from the words of the sentences that mention the entity (`components.entity_contexts`). An entity without context
    words starts from random numbers; with None all entities do. Anything else is a tab-separated file with the columns
    entity and vector, numbers with blanks between.

    The recipe is the released script's, which pools [CLS]; its warm-up of 500 steps is not here. The script adds up the
    gradients of 16 batches of 8 before each step, so that a sentence has 7 negatives. Here each batch makes a
    step. The recipe uses 128 sentences, because the script's rate and number of steps belong to 128; each sentence
    then has 127 negatives. With `batch_size=8` a sentence has 7, and a run has 16 times as many steps.

    See also: `MCSE`, with a picture instead of the entity.
    """

    family = "extra data"
    columns = ("sentence", "entity", "other_entity")
    weight: NonNegativeFloat = 0.01
    entity_temperature: PositiveFloat = 100.0
    hard_negative_weight: float = 1.0
    vectors: str | None = "contexts"

    recipes = {"bert-base": Recipe(lr=3e-5, batch_size=128)}

    def build(self, setup: Setup) -> Head:
        names = dict.fromkeys(name for row in setup.rows for name in row[1:])
        self.numbers = {name: number for number, name in enumerate(names)}
        start = self._start(setup.rows, setup.width, setup.generator)
        self.table = nn.Embedding.from_pretrained(start, freeze=False)
        self.linear = setup.linear(start.shape[1], setup.width)
        return super().build(setup)

    def _start(self, rows: Rows, width: int, generator: torch.Generator) -> Float[Tensor, "entities e"]:
        if self.vectors not in (None, "contexts"):
            return self._read()
        sentences, entities, _ = zip(*rows, strict=True)
        learnt = entity_contexts(sentences, entities, width) if self.vectors else {}
        size = min((len(vector) for vector in learnt.values()), default=width)
        start = torch.randn(len(self.numbers), size, generator=generator)
        for name, vector in learnt.items():
            start[self.numbers[name]] = vector
        return start

    def _read(self) -> Float[Tensor, "entities e"]:
        table = {row[0]: row[1] for row in read_rows(str(self.vectors), ("entity", "vector")) if row[0] in self.numbers}
        missing = [name for name in self.numbers if name not in table]
        if missing:
            raise ValueError(f"{self.vectors} has no vector of {missing[0]!r} ({len(missing)} entities are missing)")
        return torch.tensor([[float(number) for number in table[name].split()] for name in self.numbers])

    def views(self, encode: Encode, batch: Rows) -> Views:
        v = super().views(encode, batch)
        v.entity, v.other_entity = (self.embedded(self.column(batch, name)) for name in self.columns[1:])
        return v

    def embedded(self, names: Sequence[str]) -> Vectors:
        """The entities as vectors among those of sentences."""
        numbers = torch.tensor([self.numbers[name] for name in names], device=self.table.weight.device)
        return torch.tanh(self.linear(self.table(numbers)))

    def loss(self, v: Views) -> Loss:
        own = torch.eye(len(v.anchor), 2 * len(v.anchor), device=v.anchor.device).roll(len(v.anchor), 1)
        entity = info_nce(v.anchor, v.entity, self.entity_temperature, v.other_entity, self.hard_negative_weight * own)
        return super().loss(v) + self.weight * Loss({"entity": entity.total})
