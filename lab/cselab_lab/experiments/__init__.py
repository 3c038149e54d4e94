"""The papers' experiments: every table and figure as rows to run, published beside ours.

    from cselab_lab.experiments import run_experiment
    results = run_experiment("imsimcse-table1", seeds=range(5))
    print(results)

One file a paper declares its experiments; a profile (`PROFILES`) says at which size they run.
Finished jobs are lines of `results/<experiment>.<profile>.jsonl`, and are never computed twice.

See also: `cselab_lab.experiments.published` for the numbers of the papers; `cselab experiment` on the command line.
"""

from cselab_lab.experiments import comparison, effects, focal, growth, imsimcse, survey, whitenedcse  # noqa: F401  (each declares)
from cselab_lab.experiments.claims import Above, ManyTests, Negligible, Order, Trend, Verdict
from cselab_lab.experiments.experiment import EXPERIMENTS, Column, Experiment, Row, declare, get_experiment
from cselab_lab.experiments.profiles import PROFILES, Profile, get_profile
from cselab_lab.experiments.reading import Results, beside, read_results
from cselab_lab.experiments.running import JobsFailed, run_experiment
from cselab_lab.experiments.store import ResultsError

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
    "beside",
    "declare",
    "get_experiment",
    "get_profile",
    "read_results",
    "run_experiment",
]
