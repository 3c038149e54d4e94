"""The registry of suites."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from cselab._util.arguments import check_arguments, check_choice, checked, did_you_mean, register_class

from .clustering import Clustering
from .geometry import Geometry
from .sts import STS
from .task import Suite
from .transfer import Transfer
from .world import WorldClustering, WorldSTS, WorldTransfer

SUITES: dict[str, Any] = {
    suite.name: suite for suite in (STS, Geometry, Transfer, Clustering, WorldSTS, WorldTransfer, WorldClustering)
}
"""The suites by name, where `evaluate`, the command line and the tables find them; `register` adds one.

"world" is the world's STS; the remaining suites of the world need longer and only run on request.
"""


@checked
def register(suite: type[Any]) -> type[Any]:
    """Class decorator: make a suite known by its `name`, from any file (`cselab --code FILE`) or cell.

    Defining the class again, as running a notebook's cell twice does, replaces it.

    Raises:
        ValueError: a different suite has that name.
    """
    register_class(SUITES, "suite", suite.name, suite)
    return suite


def suites_named(suites: Sequence[str | Suite], options: dict[str, Any]) -> list[Suite]:
    """Suites by name, each with its own options; suites that are objects are returned unchanged.

    Raises:
        ValueError: an unknown name, or an invalid option of a suite.
        TypeError: an option that none of the named suites has.
    """
    chosen: list[Suite] = []
    owned: set[str] = set()
    for suite in suites:
        if isinstance(suite, type) or not (isinstance(suite, str) or hasattr(suite, "collect")):
            raise TypeError(f"{suite!r:.60} is no suite: give a name ({', '.join(SUITES)}), or an object such as STS()")
        if not isinstance(suite, str):
            chosen.append(suite)
            continue
        check_choice("suite", suite, SUITES)
        check_arguments(SUITES[suite], options)
        known = {field.name for field in fields(SUITES[suite])}
        owned |= known
        chosen.append(SUITES[suite](**{name: value for name, value in options.items() if name in known}))
    for name in options:
        if name not in owned:
            allowed = [f"{suite} has {', '.join(field.name for field in fields(SUITES[suite]))}" for suite in SUITES]
            raise TypeError(f"no selected suite has an option {name!r}; {'; '.join(allowed)}")
    return chosen


def tasks_by_suite(suites: Sequence[Suite], tasks: Sequence[str] | None) -> list[list[str] | None]:
    """The requested tasks of each suite: None for all, an empty list for none.

    Raises:
        ValueError: a task that none of the suites has.
    """
    if tasks is None:
        return [None] * len(suites)
    if not tasks:
        raise ValueError("tasks is empty: name at least one, or None for all")
    for task in tasks:
        if not any(task in suite.tasks for suite in suites):
            elsewhere = [name for name, suite in SUITES.items() if task in suite.tasks]
            if elsewhere:
                raise ValueError(
                    f"task {task!r} belongs to suite {elsewhere[0]!r}, not to {', '.join(one.name for one in suites)}"
                )
            allowed = "; ".join(f"{suite.name}: {', '.join(suite.tasks)}" for suite in suites)
            hint = did_you_mean(task, [known for suite in SUITES.values() for known in suite.tasks])
            raise ValueError(f"unknown task {task!r}.{hint} The tasks are: {allowed}")
    return [[task for task in tasks if task in suite.tasks] for suite in suites]
