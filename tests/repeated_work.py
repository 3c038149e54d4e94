"""In the kernel that lessons share: work that they repeat is done once."""

import gc
import hashlib
from functools import cache
from pathlib import Path

VECTORS, REGISTERED = {}, {}


def share(folder: str) -> None:
    """Give vectors and cards of methods again, and read finished runs of SimCSE back from the folder."""
    gc.disable()  # imports make no garbage
    from cselab_lab.lessons import pipeline_diff

    import cselab
    from cselab.encoders.encoder import SentenceEncoder
    from cselab.methods import METHODS

    train, encode = cselab.train, SentenceEncoder._encode_distinct

    def trained(encoder, method, corpus, config=None, evaluator=None, callbacks=(), output=None, **options):
        if method == "simcse" and evaluator and not callbacks:
            given = repr((encoder.weights_hash(), config, *corpus))
            output = Path(folder, hashlib.sha256(given.encode()).hexdigest())
        return train(encoder, method, corpus, config, evaluator, callbacks, output, **options)

    def encoded(self, texts, *options):
        settings = self.pooling, self.representation, self.template, self.max_length, self.precision
        key = (self.weights_hash(), *settings, self.tokenizer.padding_side, *texts, *options)
        if key not in VECTORS:
            VECTORS[key] = encode(self, texts, *options)
        vectors, *others = VECTORS[key]
        return vectors.clone(), *others

    cards = cache(pipeline_diff.method_cards)
    pipeline_diff.method_cards = lambda names=None: [*cards(tuple(METHODS if names is None else names))]
    cselab.train, SentenceEncoder._encode_distinct = trained, encoded
    REGISTERED.update(METHODS)
    gc.freeze()  # the libraries stay
    gc.set_threshold(100_000)
    gc.enable()


def forget() -> None:
    """Have the methods that cselab came with, and the place that torch's random numbers come from."""
    import torch

    from cselab.methods import METHODS

    METHODS.clear()
    METHODS.update(REGISTERED)
    gc.freeze()  # what is imported meanwhile stays too
    torch.manual_seed(67280421310721)  # torch's own first seed
