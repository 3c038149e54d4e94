"""The exercises of all lessons, the answers in their notebooks, and an answer returned in other types."""

import importlib
import inspect
import json
import pkgutil
import re
from functools import cache, partial
from inspect import isroutine
from unittest.mock import patch

import cselab_lab.lessons.checks
import numpy as np
import torch
from cselab_lab.headless.notebook_folder import bundled_notebooks
from cselab_lab.lessons import exercises
from cselab_lab.lessons.exercises import Exercise, numbers_of

NAME, PATH = cselab_lab.lessons.checks.__name__, cselab_lab.lessons.checks.__path__


def every_exercise():
    """The exercises of all lessons, by lesson and name."""
    modules = (importlib.import_module(f"{NAME}.{info.name}") for info in pkgutil.iter_modules(PATH))
    return {
        f"{module.__name__.rpartition('.')[2]}.{name}": value
        for module in modules
        for name, value in vars(module).copy().items()
        if isinstance(value, Exercise)
    }


@cache
def solution_of(name):
    """The answer that a notebook folds away: its cells of the exercise, the solution and the check are run."""
    lesson = name.partition(".")[0]
    (notebook,) = bundled_notebooks().glob(f"*_{lesson}.ipynb")
    piece = every_exercise()[name].piece
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells]
    checked = re.compile(rf"lesson\.check\(.*\b{piece}=")
    (at,) = [at for at, source in enumerate(sources) if checked.search(source)]
    solution = "\n".join(re.findall(r"```python\n(.+?)```", sources[at + 1], re.DOTALL))
    answers, names = [], {}
    with patch.object(exercises, "staged_check", lambda answer, exercise: answers.append(answer)):
        for source in (sources[at - 1], solution, sources[at]):
            exec(source, names)
    return answers[0]


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
    "lists": lambda numbers: numbers.tolist(),
    "tuples": as_tuples,
    "three digits": lambda numbers: numbers.round(3),
}


def returning(how, answer):
    """A function that computes with numbers alone and returns them in another type."""

    def spelled(*arguments):
        plain = [argument.detach() if torch.is_tensor(argument) else argument for argument in arguments]
        return how(numbers_of(answer(*plain)))

    return spelled


def by_keyword(answer):
    """The same function, whose arguments after the first must be given by their names."""
    first, *others = inspect.signature(answer).parameters.values()
    named = [one.replace(kind=one.KEYWORD_ONLY) for one in others]

    def spelled(value, **options):
        return answer(value, **options)

    spelled.__signature__ = inspect.Signature([first, *named])
    return spelled


def spellings_of(answer):
    """A function that returns its numbers in every type, or takes its arguments in another way; a value as it is."""
    if not isroutine(answer):
        return {"": answer}
    taken = {"by keyword": by_keyword(answer), "partial": partial(answer)}
    return taken | {name: returning(how, answer) for name, how in RETURNED.items()}
