"""Where the notebooks and results that come with cselab lie: in the package of a wheel, or beside it in a checkout."""

from pathlib import Path

PACKAGE = Path(__file__).parent
CHECKOUT = PACKAGE.parents[1]


def bundled_notebooks() -> Path:
    """The folder of the notebooks that come with cselab."""
    return _shipped("notebooks")


def recorded_results() -> Path:
    """The folder of the results that come with cselab."""
    return _shipped("results")


def _shipped(name: str) -> Path:
    inside = PACKAGE / name
    return inside if inside.is_dir() else CHECKOUT / name
