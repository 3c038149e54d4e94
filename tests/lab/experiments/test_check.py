"""A record is checked by training it again; a changed number is found."""

import re

import pytest
from click.testing import CliRunner
from cselab_lab import cli
from cselab_lab.experiments import run_experiment

pytestmark = pytest.mark.slow
TABLE = "whitenedcse-table6"


def check(*arguments):
    done = CliRunner().invoke(cli.app, ["experiment", "check", TABLE, "--profile", "smoke", *map(str, arguments)])
    return done.exit_code, done.output


def test_a_record_agrees_until_a_number_is_changed(tmp_path):
    run_experiment(TABLE, "smoke", [0], ["SimCSE"], folder=tmp_path)
    where = ("--folder", tmp_path)
    code, said = check(*where)
    assert code == 0 and said.count("numbers agree within 0.01") == 2 and "SimCSE, seed 0: " in said
    file = tmp_path / f"{TABLE}.smoke.jsonl"
    plain, simcse = file.read_text(encoding="utf-8").splitlines()
    before = simcse[simcse.index('"World-STS": ') :].split(",")[0]
    changed = re.sub('"device": "[^"]*"', '"device": "a GPU"', simcse.replace(before, '"World-STS": 99.0'))
    file.write_text(f"{plain}\n{changed}\n", encoding="utf-8")
    code, said = check(*where, "--only", "SimCSE", "--seeds", "0")
    assert code == 1 and said.startswith("SimCSE, seed 0: DIFFERS: World-STS 99 recorded, ")
    assert "; recorded on a GPU, checked on " in said
    code, said = check(*where, "--seeds", "7", "--only", "SimCSE")
    assert code == 1 and "no record of SimCSE has these seeds" in said
    code, said = check("--folder", tmp_path / "empty")
    assert code == 1 and f"{TABLE} was not run under smoke" in said
