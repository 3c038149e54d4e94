from ast import literal_eval

import pytest
from cells import table
from cselab_lab.parameters import parameters_of, typed_parameters
from nbformat.v4 import new_code_cell, new_notebook

DEFAULTS = {
    "steps": 200,
    "rate": 0.05,
    "fast": False,
    "corpus": "world",
    "methods": ["simcse", "focal"],
    "temperatures": [1, 0.05],
    "limit": None,
}


def notebook(*sources, tag="parameters"):
    return new_notebook(cells=[new_code_cell(source, metadata={"tags": [tag]}) for source in sources])


def test_parameters_are_assignments_with_typed_defaults():
    source = """
import math
steps = 200  # how many
rate: float = 5e-2
names = [
    'a',
    'b',
]
low = -1
limit = None
"""
    found = parameters_of(notebook(source), "nb")
    assert found == {"steps": 200, "rate": 0.05, "names": ["a", "b"], "low": -1, "limit": None}


@pytest.mark.parametrize("expression", ["1 / 20", "Path('x')", "{'a': 1}", "[[1], [2]]"])
def test_a_default_that_is_not_a_plain_value_is_refused(expression):
    with pytest.raises(ValueError, match="'rate' must be written as a plain value"):
        parameters_of(notebook(f"rate = {expression}"), "nb")


READ = """
steps | "20" | 20
rate | "1e-3" | 0.001
rate | "1" | 1.0
fast | "True" | True
fast | "false" | False
corpus | "12" | "12"
methods | "simcse" | ["simcse"]
methods | "['simcse', 'whitenedcse']" | ["simcse", "whitenedcse"]
temperatures | "1,0.5" | [1.0, 0.5]
limit | "30" | 30
limit | "all" | "all"
steps | 3 | 3
rate | 1 | 1.0
fast | True | True
methods | ("imsimcse",) | ["imsimcse"]
"""
REFUSED = """
steps | "many" | an int
steps | "0.5" | an int
steps | True | an int
rate | "fast" | a float
fast | "1" | true or false
corpus | 3 | a str
methods | 3 | a list of str
temperatures | "1,hot" | a list of float
"""


@pytest.mark.parametrize("name, given, expected", table(READ))
def test_a_value_is_read_as_the_type_of_the_default(name, given, expected):
    typed, expected = typed_parameters("nb", DEFAULTS, {name: literal_eval(given)})[name], literal_eval(expected)
    assert typed == expected and type(typed) is type(expected)


@pytest.mark.parametrize("name, given, kind", table(REFUSED))
def test_a_value_of_the_wrong_type_is_named_with_its_type(name, given, kind):
    value = literal_eval(given)
    with pytest.raises(ValueError, match=rf"nb: parameter '{name}' needs {kind} .*; got {value!r}"):
        typed_parameters("nb", DEFAULTS, {name: value})


def test_an_unknown_parameter_is_refused_with_the_allowed_ones():
    with pytest.raises(ValueError, match=r"nb: unknown parameter 'scael'. It has: steps, rate, fast, corpus"):
        typed_parameters("nb", DEFAULTS, {"scael": "0.9"})
