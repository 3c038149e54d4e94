"""A certificate holds what a table rests on; what was changed in it is named, and numbers are made again."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import cselab_lab
import pytest
from click.testing import CliRunner
from cselab_lab import cli
from cselab_lab.experiments import Above, read_results, run_experiment
from cselab_lab.experiments.certificate import CertificateError, _sealed, certify, verify
from small_experiment import DEV, SMALL, tiny_profile

import cselab
from cselab.evaluators.versions import versions

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Of an experiment that was really run."""
    folder = tmp_path_factory.mktemp("certified")
    return certify(run_experiment(SMALL, tiny_profile(), folder=folder)).write(folder / "certificates")


@pytest.fixture
def changed(certificate, tmp_path):
    """The certificate with a change, sealed again or not."""

    def change(alter, seal=False):
        content = json.loads(certificate.read_text())
        alter(content)
        if seal:
            content["lines"] = [_sealed(line) for line in content["lines"]]
            content = _sealed(content)
        path = tmp_path / "changed.json"
        path.write_text(json.dumps(content))
        return path

    return change


def check(path, again=0):
    return verify(path, again, SMALL, tiny_profile())


def trained(content):
    return next(line for line in content["lines"] if line["row"] == "warm" and line["seed"] == 1)


def test_what_is_untouched_stands_and_its_numbers_are_made_again_digit_for_digit(certificate):
    found = check(certificate, again=1)
    assert found.differs == [] and found.agrees[0] == "the file is as it was written"
    assert re.fullmatch(r"(cold|warm), seed [01], run again: 2 numbers, digit for digit", found.agrees[1])
    assert found.unchecked == ["5 of 6 jobs were not run again"]
    assert str(found).splitlines()[-1] == "not checked: 5 of 6 jobs were not run again"


def test_a_changed_digit_is_named_with_its_row_and_the_claim_that_no_longer_follows(changed):
    def better(content):
        trained(content)["scores"][DEV] += 10.0

    line, claim = check(changed(better)).differs
    assert line == "warm, seed 1: the line was changed after it was certified"
    assert claim.startswith("claim 'a high temperature hurts' says ")


def test_who_seals_the_change_is_found_when_the_row_runs_again(changed):
    def better(content):
        for line in content["lines"]:
            if line["scores"]:
                line["scores"][DEV] = round(line["scores"][DEV] + 0.0001, 4)

    found = check(changed(better, seal=True), again=1)
    assert re.search(r"(cold|warm), seed [01], run again: Classroom-STS dev [\d.-]+ is [\d.-]+ here", str(found))


def test_other_versions_are_named_beside_numbers_that_differ(changed):
    def elsewhere(content):
        for line in content["lines"]:
            line["versions"] = versions() | {"torch": "1.0"}
            line["scores"] = {name: 0.0 for name in line["scores"]}

    found = check(changed(elsewhere, seal=True), again=1)
    assert any(f"run again with torch 1.0 (here {versions()['torch']}): " in sentence for sentence in found.differs)


def test_other_settings_are_named(changed):
    def longer(content):
        trained(content)["settings"]["recipe"]["steps"] = 50

    assert "warm, seed 1: has other settings here (recipe)" in check(changed(longer, seal=True)).differs
    assert any("its settings are not those of its hash" in said for said in check(changed(longer)).differs)


def test_a_change_outside_the_lines_is_told_too(changed):
    def rosier(content):
        content["deviations"] = []
        content["claims"][0]["answer"] = "as large as in the paper"

    first, second = check(changed(rosier)).differs
    assert first == "the file was changed after it was certified, outside its lines"
    assert second.startswith("claim 'a high temperature hurts' says 'as large as in the paper'")


def test_rows_and_claims_that_are_not_declared_here_are_named(certificate):
    other = replace(SMALL, rows=SMALL.rows[:1], claims=(Above("another", "cold", "plain"),))
    found = verify(certificate, 0, other, tiny_profile())
    assert "other claims are declared here" in found.differs
    assert any(said.startswith("warm, seed 0: not to be run here (small has no row 'warm'") for said in found.differs)


def test_the_page_says_what_it_rests_on(certificate):
    page = certificate.with_suffix(".md").read_text()
    content = json.loads(certificate.read_text())
    assert "* a high temperature hurts: " in page and "* the encoder is micro" in page
    assert "* lr 0.0003 for lr 3e-05, batch_size 8 for batch_size 64, 2 steps for epochs 1.0: cold, warm" in page
    assert all(line["hash"] in page and line["digest"][:16] in page for line in content["lines"])
    assert content["digest"] in page and f"torch {versions()['torch']}" in page


@pytest.mark.parametrize("text", ["", "[1]", '{"experiment": "small"}'])
def test_another_file_is_refused(tmp_path, text):
    (tmp_path / "other.json").write_text(text)
    with pytest.raises(CertificateError, match=r"other\.json is no certificate, or a damaged one: "):
        verify(tmp_path / "other.json")


def test_nothing_that_was_not_run_is_certified(tmp_path):
    with pytest.raises(CertificateError, match="nothing of small was run under tiny"):
        certify(read_results(SMALL, tiny_profile(), tmp_path))


COMMAND = "import sys, cselab_lab.cli as c; assert c.__file__.startswith(sys.argv.pop(1)), c.__file__; c.main()"


@pytest.mark.process
def test_another_checkout_makes_the_numbers_again_and_a_changed_digit_is_caught(tmp_path):
    """By the commands: run and certified here, verified by a copy of the sources in a process of its own."""
    where = ["whitenedcse-table6", "--profile", "smoke", "--folder", str(tmp_path / "results")]
    for line in (["run", *where, "--only", "SimCSE", "--seeds", "0"], ["certify", *where, "--output", str(tmp_path)]):
        assert CliRunner().invoke(cli.app, ["experiment", *line]).exit_code == 0
    for package in (cselab, cselab_lab):
        folder = Path(package.__file__).parent
        shutil.copytree(folder, tmp_path / "copy" / folder.name, ignore=shutil.ignore_patterns("__pycache__"))
    verify = ["experiment", "verify", str(tmp_path / "whitenedcse-table6.smoke.json"), "--again", "3"]
    command = [sys.executable, "-c", COMMAND, str(tmp_path / "copy"), *verify]
    there = os.environ | {"PYTHONPATH": str(tmp_path / "copy")}
    found = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path, env=there)
    assert found.returncode == 0, found.stdout + found.stderr
    assert re.search(r"agrees: SimCSE, seed 0, run again: \d+ numbers, digit for digit", found.stdout)
    file = Path(verify[2])
    file.write_text(re.sub(r'"World-STS": \d', '"World-STS": 9', file.read_text(), count=1))
    found = CliRunner().invoke(cli.app, [*verify[:3], "--again", "0"])
    assert found.exit_code == 1 and "the line was changed after it was certified" in found.stdout
