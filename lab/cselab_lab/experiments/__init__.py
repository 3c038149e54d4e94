"""The papers' experiments: every table and figure as rows to run, with published and our numbers.

    from cselab_lab.experiments import run_experiment
    results = run_experiment("imsimcse-table1", seeds=range(5))
    print(results)

One file per paper declares its experiments: rows (`experiment`) and claims (`verdicts`). `plan` expands the rows under
a profile (`PROFILES`) into jobs, `run` has `compute` do the jobs that have no line yet, `store` keeps the lines,
`verdicts` judges the claims by them, and `report` shows all next to the published numbers.

See also: `cselab_lab.experiments.published` for the numbers of the papers; `cselab experiment` on the command line.
"""

from typing import TYPE_CHECKING

from cselab._util.lazy import attach

from . import comparison, effects, focal, growth, imsimcse, survey, whitenedcse, wiki  # each declares

if TYPE_CHECKING:
    from .experiment import EXPERIMENTS, Column, Experiment, Row, declare, get_experiment
    from .plan import PROFILES, Profile, get_profile, with_changes
    from .report import Results, read_results
    from .run import JobsFailed, run_experiment
    from .store import ResultsError
    from .verdicts import Above, Equivalent, ManyTests, Order, Trend, Verdict

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        ".experiment": "EXPERIMENTS Column Experiment Row declare get_experiment",
        ".plan": "PROFILES Profile get_profile with_changes",
        ".report": "Results read_results",
        ".run": "JobsFailed run_experiment",
        ".store": "ResultsError",
        ".verdicts": "Above Equivalent ManyTests Order Trend Verdict",
    },
)
