"""The papers' experiments: every table and figure as rows to run, with published and our numbers.

    from . import run_experiment
    results = run_experiment("imsimcse-table1", seeds=range(5))
    print(results)

One file per paper declares its experiments. `plan` expands their rows under a profile (`PROFILES`) into jobs, `run`
computes the jobs that have no line yet, `results` stores the lines and reads them next to the published numbers.

See also: `cselab_lab.experiments.published` for the numbers of the papers; `cselab experiment` on the command line.
"""

from . import comparison, effects, focal, growth, imsimcse, survey, whitenedcse  # noqa: F401  (each declares)
from .plan import (
    EXPERIMENTS,
    PROFILES,
    Above,
    Column,
    Experiment,
    Negligible,
    Order,
    Profile,
    Row,
    Trend,
    declare,
    get_experiment,
    get_profile,
)
from .results import ManyTests, Results, ResultsError, Verdict, read_results
from .run import JobsFailed, run_experiment

__all__ = [
    "EXPERIMENTS",
    "PROFILES",
    "Above",
    "Column",
    "Experiment",
    "JobsFailed",
    "ManyTests",
    "Negligible",
    "Order",
    "Profile",
    "Results",
    "ResultsError",
    "Row",
    "Trend",
    "Verdict",
    "declare",
    "get_experiment",
    "get_profile",
    "read_results",
    "run_experiment",
]
