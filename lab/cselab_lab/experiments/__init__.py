"""The papers' experiments: every table and figure as rows to run, with published and our numbers.

    from cselab_lab.experiments import run_experiment
    results = run_experiment("imsimcse-table1", seeds=range(5))
    print(results)

One file per paper declares its experiments. `plan` expands their rows under a profile (`PROFILES`) into jobs, `run`
computes the jobs that have no line yet, `results` stores the lines and reads them next to the published numbers.

See also: `cselab_lab.experiments.published` for the numbers of the papers; `cselab experiment` on the command line.
"""

from typing import TYPE_CHECKING

from cselab._util.lazy import attach

from . import comparison, effects, focal, growth, imsimcse, survey, whitenedcse, wiki  # each declares

if TYPE_CHECKING:
    from .plan import (
        EXPERIMENTS,
        PROFILES,
        Above,
        Column,
        Equivalent,
        Experiment,
        Order,
        Profile,
        Row,
        Trend,
        declare,
        get_experiment,
        get_profile,
        with_changes,
    )
    from .results import ManyTests, Results, ResultsError, Verdict, read_results
    from .run import JobsFailed, run_experiment

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        ".plan": "EXPERIMENTS PROFILES Above Column Experiment Equivalent Order Profile Row Trend declare "
        "get_experiment get_profile with_changes",
        ".results": "ManyTests Results ResultsError Verdict read_results",
        ".run": "JobsFailed run_experiment",
    },
)
