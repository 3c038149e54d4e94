"""The sizes at which the notebooks run."""

from collections.abc import Mapping
from typing import Any

from cselab_lab.experiments.profiles import get_profile


def _as_in(profile: str, **of_notebooks: Any) -> Mapping[str, Any]:
    """Encoder, pooling and recipe of an experiment's profile, with what the notebooks do otherwise."""
    of_profile = get_profile(profile)
    names = ("batch_size", "lr", "precision", "steps", "eval_every")
    recipe = {name: of_profile.recipe[name] for name in names if name in of_profile.recipe}
    return {"encoder": of_profile.encoders["base"].name, "pooling": of_profile.pooling} | recipe | of_notebooks


SIZES: Mapping[str, Mapping[str, Any]] = {
    "smoke": _as_in("micro", sentences=1_000, steps=20, eval_every=5),
    "classroom": _as_in("study", sentences=10_000, steps=60, eval_every=10),
    "paper": _as_in("paper", sentences=1_000_000, steps=15_625, precision="auto"),
}
"""By the name that the parameter `profile` of a notebook takes. Steps of classroom: see `results/search.md`."""
