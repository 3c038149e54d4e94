"""What kind of thing an answer is, in whatever type it was written."""

from typing import Any

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
    shapes = [tuple(getattr(one, "shape", ())) for one in returned] if several and len(returned) < 9 else []
    if shapes == [shape] * count:
        return ""
    told = f"{len(shapes)} of shapes {shapes}" if shapes else type(returned).__name__
    return f"It returned {told}; wanted are {count} of shape {shape}."


def pair_of_texts(name: str) -> Stage:
    """The first stage of an exercise that asks for two sentences."""
    return Stage(
        "it is a pair of texts", lambda p: are_texts(p, 2), f'write two sentences in brackets: {name} = ("...", "...").'
    )
