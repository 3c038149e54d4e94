"""One answer in many spellings: what a function takes and returns, what a value is written as."""

import importlib
import pkgutil
from collections import ChainMap, OrderedDict, UserDict, UserList, namedtuple
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import cselab_lab.lessons.checks
import numpy as np
import pytest
import torch
from cselab_lab.lessons.exercises import Exercise, numbers_of

NAME, PATH = cselab_lab.lessons.checks.__name__, cselab_lab.lessons.checks.__path__
Pair = namedtuple("Pair", "first second")


def every_exercise():
    """The exercises of all lessons, by lesson and name."""
    modules = (importlib.import_module(f"{NAME}.{info.name}") for info in pkgutil.iter_modules(PATH))
    return {
        f"{module.__name__.rpartition('.')[2]}.{name}": value
        for module in modules
        for name, value in vars(module).copy().items()
        if isinstance(value, Exercise)
    }


def as_lists(numbers):
    return numbers.tolist()


def as_tuples(numbers):
    return tuple(map(as_tuples, numbers)) if numbers.ndim else float(numbers)


RETURNED = {
    "NumPy": lambda numbers: numbers,
    "NumPy, float32": lambda numbers: numbers.astype(np.float32),
    "torch": lambda numbers: torch.from_numpy(np.array(numbers)),
    "torch, float32": lambda numbers: torch.from_numpy(np.array(numbers)).float(),
    "tensors in a list": lambda numbers: (
        list(torch.from_numpy(numbers)) if numbers.ndim else torch.tensor([float(numbers)])
    ),
    "lists": as_lists,
    "tuples": as_tuples,
    "three digits": lambda numbers: numbers.round(3),
}


def returning(how, answer):
    """A function that computes with numbers alone and returns them in another type."""

    def spelled(*arguments):
        plain = [argument.detach() if torch.is_tensor(argument) else argument for argument in arguments]
        return how(numbers_of(answer(*plain)))

    return spelled


def of_a_function(answer):
    return {name: returning(how, answer) for name, how in RETURNED.items()}


def of_texts(answer):
    """Sentences: in a tuple, a list, an array, with blanks around them, in NumPy's text type."""
    found = {
        "tuple": tuple(answer),
        "list": list(answer),
        "array": np.array(answer),
        "array of objects": np.array(answer, dtype=object),
        "a list of one's own": UserList(answer),
        "NumPy's texts": [np.str_(text) for text in answer],
        "blanks around": [f" {text} " for text in answer],
        "no full stop": [text.rstrip(".") for text in answer],
    }
    return found | ({"a named tuple": Pair(*answer)} if len(answer) == 2 else {})


def of_a_number(answer):
    """A number in eight types; what is whole is also written as a float."""
    kinds = (np.float64, np.float32, torch.tensor, np.array, Fraction, lambda number: Decimal(str(number)))
    found = {str(kind): kind(answer) for kind in kinds}
    found |= {"float": float(answer), "torch, double": torch.tensor(answer).double()}
    return found | ({"int": answer, "int32": np.int32(answer)} if isinstance(answer, int) else {})


def of_a_dictionary(answer):
    """The same entries in other mappings and in another order."""
    kinds = (dict, OrderedDict, MappingProxyType, ChainMap, UserDict)
    turned = dict(reversed(answer.items()))
    return {kind.__name__: kind(answer) for kind in kinds} | {
        f"{kind.__name__}, turned round": kind(turned) for kind in kinds
    }


def wrong_answers(lesson, wrong):
    """Parameters of a test: the exercises of a lesson, what must be said, and the answers of which it is said."""
    return pytest.mark.parametrize(
        ("exercise", "said", "answer"),
        [
            pytest.param(getattr(lesson, name), said, answer, id=f"{name}-{at}-{said}")
            for name, answers in wrong.items()
            for at, (said, answer) in enumerate(answers)
        ],
    )
