"""An encoder on the Hugging Face hub, with a model card of its scores and their data."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cselab.encoders.encoder import SentenceEncoder
from cselab.encoders.folder import check_folder, read_folder
from cselab.encoders.open import WANTED
from cselab.evaluators.records import COLUMNS, Record, Scores
from cselab.training.run_folder import RunFolder

ALSO = ("run.json", "history.jsonl")  # how it was trained; a run's checkpoints stay at home

USE = """## Use

```python
from sentence_transformers import SentenceTransformer

vectors = SentenceTransformer("{repo_id}").encode(["A dog runs.", "A hound is running."])
```

or `cselab.SentenceEncoder("{repo_id}")`, with the same vectors.
"""


class NotPushed(ValueError):
    """Nothing was uploaded; the message has the reason and the remedy."""


def model_card(folder: str | Path, repo_id: str, scores: Scores | None = None) -> str:
    """The model card of an encoder's folder: its training, and each score with its data.

    The head is YAML with the scores as the hub's `model-index`. The text has a table of the scores (task, split, rows,
    metric, 95 % interval, protocol), the seed and hash of the data of each, the versions; and of a run's folder method,
    settings, corpus (rows and SHA-256), seed and versions. Without `scores`, the card states that no score was
    measured.

    Args:
        folder: of an encoder, or of a finished run.
        repo_id: the model's future name on the hub, "name/model".
        scores: of `evaluate`, or `read_scores`, or `cselab.integrations.mteb.read_results`.

    Raises:
        CheckpointError: the folder is no encoder, or is damaged.
        ValueError: the scores have a different pooling or representation from the folder's.
    """
    from huggingface_hub import EvalResult, ModelCardData

    folder = Path(folder)
    settings, run = read_folder(folder), RunFolder(folder).read() or {}
    records = [] if scores is None else [record for record in scores.records if record.key]
    for record in records:
        for name in ("pooling", "representation"):
            said, wanted = getattr(record, name), settings.get(name)
            if said and wanted and said != wanted:
                raise ValueError(
                    f"{record.key} was measured with {name} {said!r}, the folder says {wanted!r}: "
                    "evaluate the encoder as it is saved"
                )
    results = [
        EvalResult(
            task_type="sentence-similarity",
            dataset_type=record.task,
            dataset_name=f"{record.task} {record.subset}".strip(),
            dataset_split=record.split or None,
            dataset_revision=record.data_hash or None,
            metric_type=record.metric,
            metric_name=record.metric,
            metric_value=round(record.value, 4),
        )
        for record in records
        if record.value is not None
    ]
    base = run.get("identity", {}).get("encoder", {}).get("name", "")
    head = ModelCardData(
        model_name=repo_id.split("/")[-1],
        eval_results=results or None,
        base_model=base if base.count("/") == 1 else None,
        library_name="sentence-transformers",
        pipeline_tag="sentence-similarity",
        tags=["sentence-transformers", "sentence-similarity", "feature-extraction", "cselab"],
    )
    vectors = ", ".join(f"{name} {settings[name]}" for name in ("pooling", "representation") if settings.get(name))
    parts = [
        f"---\n{head.to_yaml()}\n---\n\n# {repo_id.split('/')[-1]}\n",
        f"A sentence encoder{f' ({vectors})' if vectors else ''}.\n",
        USE.format(repo_id=repo_id),
        _training(run) if run else "",
        _scores(scores, records),
    ]
    return "\n".join(part for part in parts if part)


def push_to_hub(
    encoder: SentenceEncoder | str | Path,
    repo_id: str,
    scores: Scores | None = None,
    *,
    private: bool | None = True,
    token: str | None = None,
    create_pr: bool = False,
) -> str:
    """Upload an encoder with its `model_card` in one commit; the address of the commit.

    Of a folder the files that make the vectors are uploaded, and run.json and history.jsonl of a run; its checkpoints
    are not, and nothing in it changes.

    Args:
        encoder: a `SentenceEncoder`, or the folder of one, or of a finished run.
        repo_id: "name/model"; created if missing.
        scores: for the card.
        private: whether a new repository is private (the default); None: the owner's default.
        token: of the hub; default: the token of `hf auth login`.
        create_pr: open a pull request in place of a commit.

    Raises:
        NotPushed: no token, an invalid name, no network, no right to write.
        CheckpointError, ValueError: as `model_card`.
        UntrainedWeightsError: a head that was never trained.
    """
    from huggingface_hub import CommitOperationAdd, HfApi, get_token
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    if not (token or get_token()):
        raise NotPushed(
            "no token for the Hugging Face hub: make one that may write at https://huggingface.co/settings/tokens, "
            "and run `hf auth login` once, or pass token="
        )
    with TemporaryDirectory() as aside:
        folder = Path(aside) / "encoder"
        if isinstance(encoder, SentenceEncoder):
            encoder.save_pretrained(folder)
        else:
            folder = Path(encoder)
        check_folder(folder)
        added = [CommitOperationAdd(path.relative_to(folder).as_posix(), path) for path in _files(folder)]
        added.append(CommitOperationAdd("README.md", model_card(folder, repo_id, scores).encode()))
        api = HfApi(token=token)
        try:
            api.create_repo(repo_id, private=private, exist_ok=True)
            message = "Encoder, and what was measured of it"
            done = api.create_commit(repo_id, added, commit_message=message, create_pr=create_pr)
        except HFValidationError as error:
            raise NotPushed(f"repo_id is {repo_id!r}; the hub takes name/model ({error})") from None
        except (HfHubHTTPError, OSError) as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise NotPushed(f"{repo_id} was not uploaded: {reason}") from None
    return str(done.pr_url if create_pr else done.commit_url)


def _files(folder: Path) -> list[Path]:
    """The files of a folder that define the vectors, and those that describe the run."""
    if not (folder / "config.json").is_file():
        unfinished = ": it is a run that is not finished" if (folder / "run.json").exists() else ""
        raise NotPushed(f"{folder} is not an encoder: it has no config.json{unfinished}")
    matches = {path for pattern in (*WANTED, *ALSO) for path in folder.glob(pattern)}
    return sorted(path for path in matches if path.is_file())


def _training(run: dict[str, Any]) -> str:
    """The content of run.json: method, settings, corpus and dev set with their hashes, the selected step, versions."""
    names = ("identity", "steps", "best", "versions")
    told = json.dumps({name: run[name] for name in names if name in run}, indent=2)
    return f"## Training\n\nTrained with cselab; the score of the best step is no test score.\n\n```json\n{told}\n```\n"


def _scores(scores: Scores | None, records: list[Record]) -> str:
    if scores is None or not records:
        return "## Scores\n\nNothing was measured of this model.\n"
    table: list[tuple[str, ...]] = [(*COLUMNS, "seed", "data (SHA-256 or revision)")]
    for record in records:
        table.append((*record.cells, "" if record.seed is None else str(record.seed), record.data_hash[:16]))
    versions = {name: value for record in records for name, value in record.versions.items()}
    measured_with = ", ".join(f"{name} {value}" for name, value in versions.items())
    notes = [*scores.notes, f"Versions: {measured_with}"] if versions else scores.notes
    return "## Scores\n\n" + _table(table) + "".join(f"\n{note}.\n" for note in notes)


def _table(rows: list[tuple[Any, ...]]) -> str:
    head, *body = (f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in row)} |" for row in rows)
    return "\n".join([head, "|" + "---|" * len(rows[0]), *body]) + "\n"
