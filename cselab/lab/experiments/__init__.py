"""The papers' experiments: every table and figure as rows to run, published beside ours.

    from cselab.lab.experiments import run_experiment
    results = run_experiment("imsimcse-table1", "classroom", seeds=range(5))
    print(results)

One file a paper declares its experiments; a profile (smoke, classroom, study, paper) says at which size they run.
Finished jobs are lines of `results/<experiment>.<profile>.jsonl`, and are never computed twice.

See also: `cselab.lab.published` for the numbers of the papers; `cselab experiment` on the command line.
"""

from cselab.lab.experiments import comparison, focal, imsimcse, survey, whitenedcse  # noqa: F401  (each declares its own)
from cselab.lab.experiments.directions import Above, Order, Trend, Verdict
from cselab.lab.experiments.experiment import EXPERIMENTS, Column, Experiment, Row, declare, get_experiment
from cselab.lab.experiments.profiles import PROFILES, Profile, get_profile
from cselab.lab.experiments.reading import Results, beside, read_results
from cselab.lab.experiments.running import JobsFailed, run_experiment
from cselab.lab.experiments.store import ResultsError

__all__ = [
    "EXPERIMENTS",
    "PROFILES",
    "Above",
    "Column",
    "Experiment",
    "JobsFailed",
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
