"""The recipes of the bundled encoders: one place, read by experiments, benchmarks and notebooks."""

import pytest
from cselab_lab.experiments import PROFILES
from cselab_lab.experiments.recipes import RECIPES, recipe
from cselab_lab.headless.sizes import SIZES

from cselab import TrainConfig
from cselab.encoders.open import BUNDLED


def test_each_bundled_encoder_has_a_recipe():
    assert sorted(RECIPES) == sorted(BUNDLED)


def test_a_recipe_is_a_training_configuration_with_changes_of_ones_own():
    config = recipe("mini").config(seed=3, steps=7)
    assert isinstance(config, TrainConfig)
    assert (config.seed, config.steps, config.lr) == (3, 7, RECIPES["mini"].lr)


def test_training_is_looked_at_on_the_way_and_in_float32():
    for found in RECIPES.values():
        assert 2 * found.eval_every <= found.steps
        assert found.precision == "fp32"


def test_what_is_studied_trains_by_the_whole_recipe_on_data_that_everyone_has():
    study, mini = PROFILES["study"], recipe("mini")
    assert study.recipe == mini.settings() and study.pooling == mini.pooling
    assert study.recipe["steps"] > SIZES["classroom"]["steps"]
    assert study.corpus.startswith("world:") and study.dev == "Classroom-STS"


def test_an_unknown_encoder_is_told_which_have_one():
    with pytest.raises(ValueError, match="no recipe for the encoder 'maxi'; there is one for mini, micro"):
        recipe("maxi")
