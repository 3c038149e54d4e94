"""Training recorded rows again, and comparing their numbers with the record."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .compute import run_job
from .experiment import Experiment
from .plan import Profile
from .report import read_results
from .store import Job

TOLERANCE, FLOW_TOLERANCE = 0.01, 0.03
"""The largest difference in points that counts as agreement; a flow is fitted by gradient steps and varies more."""


@dataclass(frozen=True)
class Check:
    """A recorded job, computed again.

    Attributes:
        job: its row and seed.
        tolerance: the largest difference that is allowed.
        compared: the number of shared numbers; numbers with missing data are not compared.
        differences: the numbers beyond the tolerance: the recorded and the new value.
        devices: the machine of the record, and this one; long training differs between a GPU and a CPU.
    """

    job: str
    tolerance: float
    compared: int
    differences: dict[str, tuple[float, float]]
    devices: tuple[str, str]

    @property
    def agrees(self) -> bool:
        """Whether something was compared, and all of it lies within the tolerance."""
        return self.compared > 0 and not self.differences

    def __str__(self) -> str:
        if self.agrees:
            return f"{self.job}: {self.compared} numbers agree within {self.tolerance:g}"
        found = [f"{number} {there:g} recorded, {here:g} here" for number, (there, here) in self.differences.items()]
        if len(set(self.devices)) > 1:
            found.append("recorded on {}, checked on {}".format(*self.devices))
        return f"{self.job}: DIFFERS: {'; '.join(found) or 'nothing to compare'}"


def check_experiment(
    experiment: Experiment | str,
    profile: Profile | str = "study",
    seeds: Sequence[int] | None = None,
    only: Sequence[str] = (),
    folder: str | Path | None = None,
) -> Iterator[Check]:
    """Compute recorded rows again, only from their settings, and compare, one row and seed at a time.

    Args:
        experiment, profile, folder: as in `read_results`.
        seeds: the seeds of trained rows; all recorded ones when None.
        only: labels of the rows, or patterns with *; all recorded ones when empty.

    Raises:
        ValueError: an unknown row; nothing of these rows and seeds is recorded.
    """
    results = read_results(experiment, profile, folder)
    labels = [label for pattern in only for label in results.experiment.labels(pattern)] or list(results.lines)
    recorded = [
        (label, record)
        for label in labels
        for seed, record in results.lines.get(label, {}).items()
        if seeds is None or seed is None or seed in seeds
    ]
    if not recorded:
        raise ValueError(results.nothing or f"no record of {', '.join(labels)} has these seeds")
    used = results.profile
    for label, there in recorded:
        job = Job(there.experiment, there.profile, label, there.spec, there.suites, used.geometry, used.files)
        here = run_job(job)
        tolerance = FLOW_TOLERANCE if job.spec.posthoc == "flow" else TOLERANCE
        both = {number: (there.scores[number], here.scores[number]) for number in there.scores if number in here.scores}
        differences = {number: pair for number, pair in both.items() if abs(pair[0] - pair[1]) > tolerance}
        yield Check(job.name, tolerance, len(both), differences, (there.versions["device"], here.versions["device"]))
