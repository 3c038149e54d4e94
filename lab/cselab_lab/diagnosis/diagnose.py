"""Check a run, an encoder or vectors: collect the evidence, and measure every sign."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from cselab._util.arguments import NO_NUMBERS
from cselab._util.reading import NOT_FETCHED, is_pointer
from cselab.data import as_pairs
from cselab.data.tables import rows_in_memory
from cselab.encoders.any_encoder import as_array

from .evidence import Evidence, Training
from .report import Diagnosis, Finding
from .signs import SIGNS

VECTORS = (".npy", ".safetensors")


def diagnose(
    subject: Any,
    texts: Sequence[str] = (),
    corpus: Sequence[str] = (),
    others: Sequence[Any] = (),
    pooling: str | None = None,
    test: Any = None,
) -> Diagnosis:
    """Check a run, an encoder or vectors for known faults: name, number, threshold, advice.

    Args:
        subject: a run (the result of `train`, or its folder), a folder of seeds, an encoder (anything with
            `encode`, or a name that `SentenceEncoder` opens), vectors `[n, d]`, or a file or a folder of them.
        texts: texts to encode, or the texts of the vectors; default: the natural sentences of Classroom STS.
        corpus: the training corpus: sentences, rows of several texts, or a table in memory, for example a
            `datasets.Dataset`, streamed or not.
        others: more seeds, in any form of the subject.
        pooling: the pooling of an encoder that is opened by its name.
        test: the test pairs, to look for them in the corpus; `cselab.data.as_pairs` reads them.

    Raises:
        ValueError: an unsupported subject; different numbers of vectors and texts.

    >>> print(diagnose(np.ones((30, 4)) + 1e-4 * np.eye(30, 4)).findings[0].reason)
    the mean cosine of different texts is 1; above 0.985 is a fault
    """
    subject = Path(subject) if isinstance(subject, str) and Path(subject).exists() else subject
    seeds = _seeds(subject) if isinstance(subject, Path) and subject.is_dir() else []
    if seeds:
        subject, others = seeds[0], [*seeds[1:], *others]
    others = [_opened(other, pooling) for other in others]
    seen = _known(subject, _sentences(texts), _sentences(corpus), others, pooling)
    seen.test = None if test is None else as_pairs(test)
    readings = {name: sign.measure(seen) for name, sign in SIGNS.items()}
    metrics = {name: value for name, value in readings.items() if value is not None and np.isfinite(value)}
    findings = [Finding(SIGNS[name], value, seen) for name, value in metrics.items() if SIGNS[name].is_met(value)]
    return Diagnosis(_named(subject), findings, metrics, [name for name in SIGNS if name not in metrics])


def _sentences(texts: Any) -> list[str]:
    """The texts of a corpus in memory; of rows of several texts all of them."""
    rows = (row if isinstance(row, tuple | list) else [row] for row in rows_in_memory(texts)[1])
    return [text for row in rows for text in row if isinstance(text, str)]


def _known(
    subject: Any, texts: Sequence[str], corpus: Sequence[str], others: Sequence[Any], pooling: str | None
) -> Evidence:
    """The evidence in a subject of any kind."""
    if hasattr(subject, "history") and hasattr(subject, "method"):
        training = Training(subject.method, subject.config, subject.history, {"name": subject.encoder.name})
        return Evidence(subject.encoder, texts, corpus=corpus, training=training, others=others)
    opened = _opened(subject, pooling)
    if isinstance(opened, np.ndarray):
        return Evidence(None, texts, opened, corpus, others=others)
    return Evidence(opened, texts, corpus=corpus, training=_training(subject), others=others)


def _training(subject: Any) -> Training | None:
    """Method, settings and history from the folder of a run."""
    from cselab.methods import create_method
    from cselab.training.run_folder import RunFolder

    if not isinstance(subject, Path) or not subject.is_dir():
        return None
    folder = RunFolder(subject)
    content = folder.read()
    if content is None:
        return None
    identity = content["identity"]
    settings = {name: value for name, value in identity["method"].items() if name != "name"}
    method = create_method(identity["method"]["name"], **settings)
    return Training(method, SimpleNamespace(**identity["config"]), folder.history(), identity["encoder"])


def _opened(subject: Any, pooling: str | None) -> Any:
    """An encoder, or vectors `[n, d]`."""
    from cselab.encoders.encoder import SentenceEncoder

    if hasattr(subject, "encoder") and hasattr(subject, "history"):
        return subject.encoder
    if hasattr(subject, "encode") and not isinstance(subject, str):
        return subject
    if isinstance(subject, str) or (isinstance(subject, Path) and subject.is_dir()):
        return SentenceEncoder.from_pretrained(subject, pooling=pooling)
    vectors: Any = _read_vectors(subject) if isinstance(subject, Path) else subject
    vectors = vectors.detach().cpu() if hasattr(vectors, "detach") else np.asarray(vectors)
    vectors = vectors.float().numpy() if str(vectors.dtype) == "torch.bfloat16" else np.asarray(vectors)
    if vectors.ndim != 2 or vectors.dtype.kind in NO_NUMBERS or min(vectors.shape) < 1 or len(vectors) < 2:
        raise ValueError(
            f"cannot diagnose an array of shape {vectors.shape} and type {vectors.dtype}; expected a run, an encoder, "
            f"or two or more vectors [n, d] of numbers"
        )
    return as_array(vectors, len(vectors), "the vectors are")


def _read_vectors(file: Path) -> Any:
    from safetensors.torch import load_file

    if file.suffix not in VECTORS:
        raise ValueError(f"{file}: vectors must be in {' or '.join(VECTORS)}; write them with `cselab encode`")
    if is_pointer(file):
        raise ValueError(f"{file} {NOT_FETCHED}")
    try:
        held = load_file(file) if file.suffix == ".safetensors" else {"": np.load(file, allow_pickle=False)}
    except Exception as error:  # a damaged file raises whatever its reader meets first
        with open(file, "rb") as held_back:
            start = held_back.read(6)
        if "allow_pickle" in str(error) and start.startswith((b"\x93NUMPY", b"\x80")):
            raise ValueError(
                f"{file} holds Python objects (a pickle), which may run code and are not opened: in the program that "
                "wrote the file, save numbers, np.save(file, np.array(vectors, dtype='float32'))"
            ) from None
        reason = type(error).__name__ if "pickle" in str(error) else error
        raise ValueError(
            f"{file} is not a complete {file.suffix} file ({reason}): write it again with `cselab encode`"
        ) from None
    if isinstance(held.get(""), np.lib.npyio.NpzFile):
        raise ValueError(f"{file} is an archive (.npz): save each array as a .npy file, np.save(file, array)")
    if len(held) != 1:
        raise ValueError(
            f"{file} holds {len(held)} tensors ({', '.join(held) or 'none':.200}); expected one, in a separate file"
        )
    return next(iter(held.values()))


def _seeds(folder: Path) -> list[Path]:
    """The runs or vector files in a folder that is not an encoder."""
    if (folder / "config.json").exists() or (folder / "run.json").exists() or (folder / "modules.json").exists():
        return []
    runs = sorted(run.parent for run in [*folder.glob("*/run.json"), *folder.glob("*/*/run.json")])
    members = runs or sorted(file for file in folder.iterdir() if file.suffix in VECTORS)
    if not members:
        raise ValueError(f"{folder} holds no run, no encoder and no vectors ({', '.join(VECTORS)})")
    return members


def _named(subject: Any) -> str:
    if hasattr(subject, "history"):
        return f"run of {subject.method.name}"
    if hasattr(subject, "encode") and not isinstance(subject, str):
        return str(getattr(subject, "name", "") or type(subject).__name__)
    return str(subject) if isinstance(subject, str | Path) else f"{len(subject)} vectors"
