"""The results that MTEB wrote, as scores of this project.

MTEB opens a run's folder with `SentenceTransformer(folder)` and leaves one JSON file per task:
results/MODEL/REVISION/TASK.json. Neither reading nor this module needs MTEB.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from cselab._util.arguments import checked
from cselab._util.reading import read_json
from cselab.data.files import DataError, MissingFile
from cselab.evaluators.records import Record, Scores

TASK_OF_MTEB = {"STSBenchmark": "STS-B"}
"""Tasks with a different name in cselab; STS12 to STS16 and SICK-R have the same names."""

METRIC_OF_MTEB = {"cosine_spearman": "spearman", "cosine_pearson": "pearson"}
"""Metrics with a different name in cselab, where correlations are of cosines."""

META = "model_meta.json"
UNNAMED = "no_model_name/available"  # MTEB's name for a model from a folder


@checked
def read_results(path: str | Path) -> dict[str, Scores]:
    """The scores in a result file of MTEB, or in a folder of them, by the name of the model.

    A folder may be that of one model or of many, as MTEB lays it out. The model's name comes from model_meta.json.
    Without one, it is the name of the folder `path`, or of the model's folder if there are several models. With
    several revisions of a model, the revision follows the name.

    Each task gives a record with its main score times 100 under the task's name (of several splits: the name and the
    split), and one without a key for each of several subsets; the main score is then their mean.
    `data_hash` is the data set's revision, and `seconds` is MTEB's time. Predictions are not in these files.

    Raises:
        MissingFile: the file or folder does not exist.
        DataError: a folder without results, a file that is not a result; the message names it.

    See also: `cselab.evaluators.read_scores`, for files of `Scores.to_json`.
    """
    path = Path(path)
    if not path.exists():
        raise MissingFile(f"{path}: no such file or folder; expected results of MTEB")
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*.json") if file.name != META)
    by_folder: dict[Path, list[Record]] = {}
    read: dict[tuple[Path, str, str], Path] = {}
    for file in files:
        content = _read_json(file)
        if isinstance(content, dict) and "mteb_dataset_name" in content:
            raise DataError(
                f"{file} has the layout of MTEB before 1.11: convert it with mteb, "
                "mteb.results.TaskResult.from_disk(file, load_historic_data=True).to_disk(file), file a Path"
            )
        if isinstance(content, dict) and isinstance(content.get("scores"), dict) and "task_name" in content:
            try:
                records = _records(content)
            except (KeyError, TypeError, AttributeError, IndexError) as error:
                raise DataError(f"{file} is no result of MTEB: a score has no {error}") from None
            for record in records:
                other = read.setdefault((file.parent, record.task, record.split), file)
                if other != file:
                    raise DataError(f"{file} and {other.name} are results of one task, {record.task}: keep one of them")
            by_folder.setdefault(file.parent, []).extend(records)
        elif file == path:
            raise DataError(f"{path} is not a result of MTEB: no task_name with scores by split")
    if not by_folder:
        raise DataError(f"{path}: not a result of MTEB; expected files such as STS12.json with task_name and scores")
    return _by_model(path, by_folder)


def _by_model(path: Path, by_folder: Mapping[Path, list[Record]]) -> dict[str, Scores]:
    models = {folder: _model(folder) for folder in by_folder}
    for folder, (name, revision) in models.items():
        below = (
            folder.relative_to(path).as_posix() if len(by_folder) > 1 else path.stem if path.is_file() else path.name
        )
        models[folder] = name or below, revision or below
    names = [name for name, _ in models.values()]
    named = {}
    for folder, (name, revision) in models.items():
        name = f"{name} {revision}" if names.count(name) > 1 else name
        if name in named:
            raise DataError(f"{path} holds two sets of results of {name}: read them one by one")
        named[name] = Scores([replace(record, encoder=name) for record in by_folder[folder]])
    return named


def _model(folder: Path) -> tuple[str, str]:
    """Name and revision of the model whose results lie in a folder, where they are known."""
    file = folder / META
    meta = _read_json(file) if file.exists() else {}
    name, revision = (str(meta.get(key) or "") for key in ("name", "revision"))
    return ("" if name == UNNAMED else name), revision


def _read_json(file: Path) -> Any:
    try:
        return read_json(file)
    except (OSError, ValueError) as error:
        raise DataError(f"{file} cannot be read as JSON ({error}): the file was cut short or damaged") from None


def _records(content: Mapping[str, Any]) -> list[Record]:
    """The records of one file: a headline per split, and its subsets if there are several."""
    task = TASK_OF_MTEB.get(content["task_name"], content["task_name"])
    splits = content["scores"]
    records = []
    for split, entries in splits.items():
        known = Record(
            task=task,
            split=split,
            metric=_metric(entries),
            data_hash=content.get("dataset_revision") or "",
            versions={"mteb": content["mteb_version"]} if content.get("mteb_version") else {},
            protocol="MTEB",
        )
        if not entries:
            records.append(replace(known, key=task, failure=f"the file has no score of the split {split}"))
            continue
        several = len(entries) > 1
        headline = replace(
            known,
            key=task if len(splits) == 1 else f"{task} {split}",
            aggregation="mean" if several else "",
            subset="" if several or entries[0].get("hf_subset") in (None, "default") else entries[0]["hf_subset"],
            seconds=content.get("evaluation_time"),
        )
        scores = [_number(entry["main_score"]) for entry in entries]
        records.append(_scored(headline, fmean(scores)))
        if several:
            subsets = zip(entries, scores, strict=True)
            records += [_scored(replace(known, subset=entry["hf_subset"]), score) for entry, score in subsets]
    return records


def _number(score: Any) -> float:
    """A main score; NaN for null, as MTEB writes a score that it could not compute."""
    if score is None:
        return float("nan")
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise TypeError(f"number, but {score!r:.40}")
    return float(score)


def _scored(record: Record, value: float) -> Record:
    if abs(value) <= 1:
        return replace(record, value=100 * value)
    if value != value:
        return replace(record, failure="MTEB could not compute this score (null or NaN)")
    hint = ", and this may be per cent: divide it by 100" if abs(value) <= 100 else ""
    return replace(record, failure=f"the score is {value:g}; scores of MTEB are from -1 to 1{hint}")


def _metric(entries: Sequence[Mapping[str, Any]]) -> str:
    """The name of the main score: of all scores with its value in each subset, the first in METRICS."""
    first = entries[0] if entries else {}
    numbers = [name for name, value in first.items() if isinstance(value, int | float) and name != "main_score"]
    same = [name for name in numbers if all(entry.get(name) == entry["main_score"] for entry in entries)]
    same.sort(key=lambda name: name not in METRIC_OF_MTEB)
    return METRIC_OF_MTEB.get(same[0], same[0]) if same else "main_score"
