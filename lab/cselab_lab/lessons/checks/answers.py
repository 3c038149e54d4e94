"""What kind of thing an answer is, in whatever type it was written."""

import warnings
from collections.abc import Callable
from typing import Any

import torch

from cselab_lab.lessons.exercises import Stage, numbers_of


def are_texts(answer: Any, count: int) -> bool:
    """Whether an answer is so many texts in a row: a tuple, a list, an array; not one text, not a dictionary."""
    if isinstance(answer, str | dict) or not hasattr(answer, "__getitem__") or not hasattr(answer, "__len__"):
        return False
    return len(answer) == count and all(isinstance(text, str) for text in answer)


def is_number(answer: Any) -> bool:
    """Whether this is one finite number: of Python, NumPy or torch; not a bool, not a list with a number in it."""
    if isinstance(answer, bool | list | tuple) or (number := numbers_of(answer)) is None:
        return False
    return number.size == 1 and abs(float(number.reshape(()))) < float("inf")


def is_whole(answer: Any) -> bool:
    """Whether this is a whole number: 6, 6.0, one of NumPy or torch."""
    return is_number(answer) and float(answer) == round(float(answer))


def wrong_shapes(returned: Any, count: int, shape: tuple[int, ...]) -> str:
    """What is wrong with the number or the shapes of several tables, in a sentence; empty where nothing is."""
    several = isinstance(returned, list | tuple) or getattr(returned, "ndim", 0) == 3
    shapes = [_shape(one) for one in returned] if several else []
    if shapes == [shape] * count:
        return ""
    told = f"{len(shapes)} of them" if len(shapes) > 8 else f"{len(shapes)}, of shape {', '.join(map(str, shapes))}"
    one = f"one {type(returned).__name__} of shape {_shape(returned)}" if _shape(returned) else repr(returned)[:60]
    return f"Wanted are {count} tables of shape {shape}; your function returned {told if several else one}."


def _shape(table: Any) -> tuple[int, ...]:
    return getattr(numbers_of(table), "shape", ())


AS_IT_IS = "Detach nothing on the way, and write nothing into what is given."


def _wanting(value: Any, asked: list[Any]) -> Any:
    """The same, its tensors wanting a gradient; they are added to `asked`."""
    if isinstance(value, list):
        return [_wanting(one, asked) for one in value]
    if torch.is_tensor(value) and value.is_floating_point():
        asked.append(value.detach().double().clone().requires_grad_())
        return 1 * asked[-1]  # who writes into it does so as in training
    return value


def _gradients(function: Callable, given: tuple[Any, ...]) -> list[Any] | None:
    """Of a weighted sum of what is returned, by every tensor that is given; None where no gradient goes through."""
    asked: list[Any] = []
    try:
        with warnings.catch_warnings(action="ignore"):  # of float(tensor), say, which asks for no gradient
            found = function(*(_wanting(value, asked) for value in given))
    except RuntimeError as error:
        if "numpy" in str(error):  # which takes no tensor that wants a gradient
            return None
        raise
    if isinstance(found, list | tuple) and all(map(torch.is_tensor, found)):
        found = torch.stack(list(found))
    if not getattr(found, "requires_grad", False):
        return None
    weights = torch.linspace(-1, 3, found.numel() + 1)[1:].reshape(found.shape)
    return list(torch.autograd.grad((found * weights).sum(), asked, materialize_grads=True))


def right_gradient(
    right: Callable, *given: Any, known: dict[str, Callable] | None = None, hint: str = AS_IT_IS
) -> Stage:
    """A stage: the gradients of an answer by all tensors that it is given are those of the right function.

    Of an answer without a gradient nothing is asked here: `yours` says that a lesson cannot train with it. `known` are
    functions with another gradient, and what is said of them.
    """

    def holds(answer: Callable) -> str:
        found = _gradients(answer, given)

        def is_of(function: Callable) -> bool:
            wanted = _gradients(function, given) or []
            return found is None or all(torch.allclose(a, b, atol=2e-3) for a, b in zip(found, wanted, strict=True))

        told = (said for said, wrong in (known or {}).items() if is_of(wrong))
        return "" if is_of(right) else next(told, f"Yours is another one. {hint}")

    return Stage("where a gradient goes through it, it is the right one", holds)


def pair_of_texts(name: str) -> Stage:
    """The first stage of an exercise that asks for two sentences."""
    return Stage(
        "it is a pair of texts", lambda p: are_texts(p, 2), f'write two sentences in brackets: {name} = ("...", "...").'
    )
