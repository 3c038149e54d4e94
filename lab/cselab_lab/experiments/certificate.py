"""A certificate: one page for a table, with all that its numbers rest on; and what of it stands when it is run again.

    certify(read_results("focal-table2")).write("certificates")     # focal-table2.study.json, and .md to read
    print(verify("certificates/focal-table2.study.json"))

The file holds every line of the table and a digest of each, so that a change is named; who changes the digest too is
found when the cheapest rows are run again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cselab.data.writing import written_whole
from cselab.evaluators.versions import versions
from cselab_lab.experiments.compute import run_job
from cselab_lab.experiments.experiment import Experiment, get_experiment
from cselab_lab.experiments.jobs import job_of, settings_hash
from cselab_lab.experiments.profiles import Profile, get_profile
from cselab_lab.experiments.reading import Results
from cselab_lab.tables import table


class CertificateError(ValueError):
    """A file that is no certificate, or one of an experiment that is not declared here."""


@dataclass(frozen=True)
class Certificate:
    """A table as it was measured: the content is what the JSON file holds, the page is for people."""

    content: dict[str, Any]
    page: str

    def write(self, folder: str | Path) -> Path:
        """Write `<experiment>.<profile>.json`, and the page beside it as `.md`; gives the path of the first."""
        path = Path(folder) / f"{self.content['experiment']}.{self.content['profile']}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        for target, text in ((path, json.dumps(self.content, indent=1, ensure_ascii=False)),
                             (path.with_suffix(".md"), self.page)):  # fmt: skip
            with written_whole(target) as whole:
                whole.write_text(text + "\n", encoding="utf-8")
        return path


def certify(results: Results) -> Certificate:
    """The certificate of a table, of the lines that were read.

    Raises:
        CertificateError: nothing of it was run.
    """
    lines = [_sealed(line | {"row": label}) for label, seeds in results.lines.items() for line in seeds.values()]
    if not lines:
        raise CertificateError(results.nothing)
    content = {
        "certificate": 1,
        "experiment": results.experiment.name,
        "profile": results.profile.name,
        "published": None if results.experiment.published is None else results.experiment.published.title,
        "claims": _claims(results),
        "deviations": deviations(results),
        "lines": lines,
    }
    content = _sealed(content)
    return Certificate(content, _page(results, content))


def deviations(results: Results) -> list[str]:
    """What is known to differ from the paper: the encoder, each method's recipe, rows not run, doubtful cells."""
    from cselab.methods import METHODS

    encoders = results.profile.encoders
    base = encoders["base"].name
    known = [] if base.startswith("bert-") else [f"the encoder is {base}"]
    by_recipe: dict[str, list[str]] = {}
    for label, seeds in results.lines.items():
        row = results.experiment.row(label)
        if row.method and (printed := METHODS[row.method].recipes.get(encoders[row.encoder].family)):
            ran = {"epochs": None, **next(iter(seeds.values()))["settings"]["recipe"]}
            length = f"{ran['steps']} steps" if ran.get("steps") else f"epochs {ran['epochs']}"
            here = [f"lr {ran['lr']}", f"batch_size {ran['batch_size']}", length]
            paper = [f"lr {printed.lr}", f"batch_size {printed.batch_size}", f"epochs {printed.epochs}"]
            changed = [f"{mine} for {theirs}" for mine, theirs in zip(here, paper, strict=True) if mine != theirs]
            by_recipe.setdefault(", ".join(changed), []).append(label)
    known += [f"{changed}: {', '.join(labels)}" for changed, labels in by_recipe.items() if changed]
    frame = results.beside()
    noted = frame[(frame["note"] != "") & (frame["column"] == results.experiment.columns[0].measure)]
    return known + [f"{label}: {note}" for label, note in zip(noted["row"], noted["note"], strict=True)]


@dataclass(frozen=True)
class Verification:
    """What of a certificate stands: sentences about what agrees, what differs, and what could not be checked."""

    agrees: list[str] = field(default_factory=list)
    differs: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        parts = (("agrees", self.agrees), ("DIFFERS", self.differs), ("not checked", self.unchecked))
        return "\n".join(f"{word}: {sentence}" for word, sentences in parts for sentence in sentences)


def verify(
    file: str | Path, again: int = 2, experiment: Experiment | None = None, profile: Profile | None = None
) -> Verification:
    """Hold a certificate against itself, against what is declared here, and against its cheapest rows run again.

    Args:
        file: the JSON file.
        again: how many of the cheapest jobs run again; 0 runs none.
        experiment, profile: those of that name that are declared here when None.

    Raises:
        CertificateError: the file is no certificate.
        ValueError: no such experiment or profile here.
    """
    content = _read(file)
    experiment = experiment or get_experiment(content["experiment"])
    profile = profile or get_profile(content["profile"])
    checked = Verification()
    _check_seals(content, checked)
    results = _results(content, experiment, profile, checked)
    if [claim["claim"] for claim in content["claims"]] != [claim.claim for claim in experiment.claims]:
        checked.differs.append("other claims are declared here")
    for here, there in zip(_claims(results), content["claims"], strict=False):
        if here != there:
            said = f"claim {there['claim']!r} says {there['answer']!r}, {there['ours']}"
            checked.differs.append(f"{said}; the lines give {here['answer']!r}, {here['ours']}")
    measured = sorted((line for line in content["lines"] if line["scores"]), key=lambda line: line.get("seconds", 0.0))
    for line in measured[:again]:
        _run_again(line, experiment, profile, checked)
    if left := len(content["lines"]) - len(measured[:again]):
        checked.unchecked.append(f"{left} of {len(content['lines'])} jobs were not run again")
    return checked


def _read(file: str | Path) -> dict[str, Any]:
    try:
        content = json.loads(Path(file).read_text(encoding="utf-8"))
        if {"certificate", "experiment", "profile", "lines", "claims"} <= content.keys():
            return content
        reason = "it lacks a part"
    except (ValueError, AttributeError) as error:
        reason = str(error)
    raise CertificateError(f"{file} is no certificate, or a damaged one: {reason}")


def _check_seals(content: dict[str, Any], checked: Verification) -> None:
    changed = [line for line in content["lines"] if _sealed(line) != line]
    checked.differs.extend(f"{_name(line)}: the line was changed after it was certified" for line in changed)
    if _sealed(content) == content:
        checked.agrees.append("the file is as it was written")
    elif not changed:
        checked.differs.append("the file was changed after it was certified, outside its lines")


def _results(content: dict[str, Any], experiment: Experiment, profile: Profile, checked: Verification) -> Results:
    """The lines; those that have other settings than the row has here are named."""
    lines: dict[str, dict[int | None, dict[str, Any]]] = {}
    for line in content["lines"]:
        lines.setdefault(line["row"], {})[line["seed"]] = line
        try:
            declared = job_of(experiment, experiment.row(line["row"]), profile, line["seed"]).settings
        except ValueError as reason:
            checked.differs.append(f"{_name(line)}: not to be run here ({reason})")
            continue
        if settings_hash(line["settings"]) != line["hash"]:
            checked.differs.append(f"{_name(line)}: its settings are not those of its hash {line['hash']}")
        other = sorted(name for name in declared | line["settings"] if declared.get(name) != line["settings"].get(name))
        if other:
            checked.differs.append(f"{_name(line)}: has other settings here ({', '.join(other)})")
    return Results(experiment, profile, lines, {})


def _run_again(line: Mapping[str, Any], experiment: Experiment, profile: Profile, checked: Verification) -> None:
    """A job once more, digit for digit."""
    try:
        suites = job_of(experiment, experiment.row(line["row"]), profile, line["seed"]).suites
    except ValueError:  # said already
        return
    recorded, measured = line["scores"], run_job(line["settings"], suites, profile.geometry)["scores"]
    places = max((len(str(score).partition(".")[2]) for score in recorded.values()), default=0)
    here = {name: round(measured[name], places) for name in recorded if name in measured}
    other = [f"{name} {recorded[name]} is {value} here" for name, value in here.items() if value != recorded[name]]
    apart = [f"{name} {line['versions'].get(name)} (here {new})" for name, new in versions().items()
             if line["versions"].get(name) != new]  # fmt: skip
    if other:
        why = f" with {', '.join(apart)}" if apart else ""
        checked.differs.append(f"{_name(line)}, run again{why}: {'; '.join(other)}")
    elif here:
        checked.agrees.append(f"{_name(line)}, run again: {len(here)} numbers, digit for digit")
    if lost := sorted(recorded.keys() - here.keys()):
        checked.unchecked.append(f"{_name(line)}: no data here for {', '.join(lost)}")


def _claims(results: Results) -> list[dict[str, Any]]:
    """The verdicts, as JSON has them."""
    return json.loads(json.dumps([verdict.record() for verdict in results.verdicts()]))


def _sealed(part: Mapping[str, Any]) -> dict[str, Any]:
    """The part with the sha256 of all that it holds, but that."""
    rest = {name: value for name, value in part.items() if name != "digest"}
    text = json.dumps(rest, sort_keys=True, ensure_ascii=True)
    return rest | {"digest": hashlib.sha256(text.encode()).hexdigest()}


def _name(line: Mapping[str, Any]) -> str:
    return line["row"] if line["seed"] is None else f"{line['row']}, seed {line['seed']}"


def _page(results: Results, content: Mapping[str, Any]) -> str:
    """The same for people: what was asked, the table, the claims, what deviates, how each line was made."""
    lines = content["lines"]
    machines = dict.fromkeys(", ".join(f"{name} {made}" for name, made in line["versions"].items()) for line in lines)
    made = {
        _name(line): {"settings": line["hash"], "encoder": line.get("encoder_hash", "")[:16],
                      "seconds": f"{line.get('seconds', 0):.0f}", "digest": line["digest"][:16]}
        for line in lines
    }  # fmt: skip
    parts = [
        f"# {results.experiment.question}",
        f"`{content['experiment']}` under `{content['profile']}`. {content['published'] or 'No published numbers.'}",
        results.shown(form="md"),
        "\n".join(f"* {sentence}" for sentence in (*results.said(), *results.recipes())),
        "## Known to differ from the paper",
        "\n".join(f"* {sentence}" for sentence in content["deviations"]) or "Nothing.",
        "## How it was made",
        "\n".join(f"* {machine}" for machine in machines),
        table(made, form="md"),
        f"All settings stand in `{content['experiment']}.{content['profile']}.json`, sha256 `{content['digest']}`.",
    ]
    return "\n\n".join(parts)
