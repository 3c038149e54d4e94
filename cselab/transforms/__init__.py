"""Transforms fitted on the finished vectors of an encoder: centring, components removed, BERT-whitening, BERT-flow."""

from cselab.transforms.components import ComponentsRemoved, fit
from cselab.transforms.whitening import BertFlow, BertWhitening

__all__ = ["BertFlow", "BertWhitening", "ComponentsRemoved", "fit"]
