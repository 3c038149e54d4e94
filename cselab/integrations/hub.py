"""An encoder on the Hugging Face hub, with a model card of its scores and their data."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cselab.encoders.encoder import SentenceEncoder
from cselab.encoders.folder import check_folder, read_folder
from cselab.encoders.open import HUB_FILES, find_encoder
from cselab.evaluators.records import Scores
from cselab.training.run_folder import RunFolder

ALSO = ("run.json", "history.jsonl")  # the record of the training; checkpoints are not uploaded

USE = """## Use

```python
from sentence_transformers import SentenceTransformer

vectors = SentenceTransformer("{repo_id}").encode(["A dog runs.", "A hound is running."])
```

or `cselab.SentenceEncoder("{repo_id}")`, with the same vectors.
"""


def model_card(folder: str | Path, repo_id: str, scores: Scores | None = None) -> str:
    """The model card of an encoder's folder: its training, and each score with its data.

    The head is YAML with the scores as the hub's `model-index`, each with the hash of its data. The text has a table of
    the scores (task, split, rows, metric, 95 % interval, protocol); and of a run's folder method, settings, corpus
    (rows and SHA-256), seed and versions. Without `scores`, the card states that no score was measured.

    Args:
        folder: the folder of an encoder, or of a finished run.
        repo_id: the model's future name on the hub, "name/model".
        scores: the result of `evaluate`, or `read_scores`, or `cselab.integrations.mteb.read_results`.

    Raises:
        CheckpointError: the folder is not an encoder, a run that is not finished, or damaged.
        ValueError: the scores have a different pooling or representation from the folder's.
    """
    from huggingface_hub import EvalResult, ModelCardData

    folder, _ = find_encoder(Path(folder).resolve(), None)
    check_folder(folder)
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
        f"## Scores\n\n```text\n{scores}\n```\n" if records else "## Scores\n\nThis model has not been evaluated.\n",
    ]
    return "\n".join(part for part in parts if part)


def push_to_hub(
    encoder: SentenceEncoder | str | Path, repo_id: str, scores: Scores | None = None, *, private: bool | None = True
) -> str:
    """Upload an encoder, and its `model_card` as README.md; the address of the commit.

    The files of the folder that produce the vectors are uploaded, and of a run also run.json and history.jsonl.
    Checkpoints are not uploaded, and the folder does not change.

    Args:
        encoder: a `SentenceEncoder`, or the folder of one, or of a finished run.
        repo_id: "name/model"; created if missing.
        scores: the scores on the card.
        private: whether a new repository is private (the default); None: the owner's default.

    Raises:
        CheckpointError, ValueError: as `model_card`.
        UntrainedWeightsError: a head that was never trained.
        HfHubHTTPError, HFValidationError, OSError: of huggingface_hub: no token (`hf auth login` stores one), no right
            to write, an invalid name, no network.
    """
    from huggingface_hub import HfApi, ModelCard

    with TemporaryDirectory() as aside:
        folder = Path(aside)
        if isinstance(encoder, SentenceEncoder):
            encoder.save_pretrained(folder)
        else:
            folder = Path(encoder)
        card = ModelCard(model_card(folder, repo_id, scores))
        api = HfApi()
        api.create_repo(repo_id, private=private, exist_ok=True)
        card.push_to_hub(repo_id)
        return str(api.upload_folder(repo_id=repo_id, folder_path=folder, allow_patterns=[*HUB_FILES, *ALSO]))


def _training(run: dict[str, Any]) -> str:
    """The content of run.json: method, settings, corpus and dev set with their hashes, the selected step, versions."""
    names = ("identity", "steps", "best", "versions")
    told = json.dumps({name: run[name] for name in names if name in run}, indent=2)
    return (
        f"## Training\n\nTrained with cselab; the score of the best step is not a test score.\n\n```json\n{told}\n```\n"
    )
