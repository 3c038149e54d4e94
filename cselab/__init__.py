"""cselab: contrastive learning of sentence embeddings, to be read, run and taken apart."""

__version__ = "0.1.0"
