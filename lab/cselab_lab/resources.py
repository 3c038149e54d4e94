"""Where the results lie that come with cselab."""

from pathlib import Path

from cselab.lab.notebook_folder import CHECKOUT, PACKAGE


def recorded_results() -> Path:
    """The folder of the results that come with cselab: in the package of a wheel, or beside it in a checkout."""
    shipped = PACKAGE / "results"
    return shipped if shipped.is_dir() else CHECKOUT / "results"
