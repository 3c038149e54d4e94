"""The weights and texts behind a record, by the SHA-256 of their files: a name stands for one content.

Weights and texts that we know have their names. Any other content is named by its folder or file and its SHA-256.
"""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cselab._util.checksums import CheckpointError, sha256_of
from cselab._util.reading import read_json
from cselab.data import MissingFile
from cselab.encoders.open import BUNDLED, CHECKSUMS, find_encoder

from .corpora import CORPORA, TEXTS

WEIGHTS = {"bert-base-uncased": "68d45e234eb4a928074dfd868cead0219ab85354cc53d20e772753c6bb9169d3"}
"""The SHA-256 of `model.safetensors` (440,449,768 bytes) in revision 86b5e0934494bd15c9632b12f734a8a67f723594.

The same tensors in a file that was written again have a different SHA-256. They are not recognised, because no hash of
the published tensors is known."""

RECORDED_TEXTS = {
    "enwiki-1m": "a8a89e99214c1b48fe3dba8e5b961e32c092d4caa18f79cea523ccf165abf0e6",
    "simplewiki-1m": "033b311193c0af2e10ba1e498a6c69492ad9ce00302761531af1e3f6284520bb",
}
"""The SHA-256 of the files behind our records of the profile `wiki`: a million random sentences of English Wikipedia,
and the 1,020,946 of Simple English Wikipedia, in the order of the articles."""

KNOWN = {**WEIGHTS, **RECORDED_TEXTS}


@dataclass(frozen=True)
class Identity:
    """The name in a record, the SHA-256, and the file or folder, as far as they are known."""

    name: str
    sha256: str | None = None
    place: Path | None = None


def identify_text(corpus: str | Path) -> Identity:
    """The text in a file, or with a known name.

    Raises:
        MissingFile: neither a file nor a known name.
    """
    name, file = str(corpus), Path(corpus).expanduser()
    if file.is_file():
        digest = sha256_of(file)
        return Identity(_known_or_own(RECORDED_TEXTS, digest, file.name.partition(".")[0]), digest, file.resolve())
    if name in TEXTS or name in RECORDED_TEXTS or name.startswith("world:"):
        return Identity(name, RECORDED_TEXTS.get(name))
    known = ", ".join((*TEXTS, *RECORDED_TEXTS))
    raise MissingFile(f"no text {name!r}: give a file with one sentence per line, or one of {known}")


def identify_encoder(encoder: str | Path) -> Identity:
    """The encoder with a bundled name, in a folder, or on the hub.

    Raises:
        CheckpointError: there is none.
    """
    if str(encoder) in BUNDLED:
        return Identity(str(encoder), bundled_weights(str(encoder)))
    folder, name = find_encoder(encoder, None)
    digest = weights_sha256(folder)
    return Identity(_known_or_own(WEIGHTS, digest, Path(name).name), digest, folder.resolve())


def _known_or_own(known: dict[str, str], digest: str, name: str) -> str:
    return next((each for each, sha256 in known.items() if sha256 == digest), f"{name}-{digest[:8]}")


@cache
def bundled_weights(name: str) -> str | None:
    """The SHA-256 of a bundled encoder's weights; None if it is not bundled."""
    return read_json(CHECKSUMS).get(f"{name}/model.safetensors")


def weights_sha256(folder: Path) -> str:
    """The SHA-256 of the weights in a folder; of the hashes of their files, one per line, where there are several."""
    digests = [sha256_of(file) for file in sorted(folder.glob("model*.safetensors"))]
    if not digests:
        raise CheckpointError(f"{folder} has no model.safetensors")
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


def encoder_folder(name: str, weights: str | None, place: Path | None) -> Path | str:
    """The folder of an encoder of a job, its weights checked; the name of a bundled one, which checks itself.

    Args:
        name, weights: the name and the beginning of the SHA-256 in the job's settings.
        place: the folder on this machine; None for an encoder of the hub.

    Raises:
        CheckpointError: the weights have a different SHA-256, or a folder in the current directory has the name of an
            encoder of the hub.
    """
    if name in BUNDLED:
        return name
    if place is None and Path(name).exists():
        raise CheckpointError(f"{name} is a folder here, not the encoder of the hub: record it with --encoder ./{name}")
    folder, _ = find_encoder(place or name, None)
    if weights is not None and not (digest := weights_sha256(folder)).startswith(weights):
        raise CheckpointError(
            f"{folder} has not the weights of {name}: their SHA-256 begins with {digest[:16]}, not {weights}; record "
            "them under a different name with --encoder FOLDER"
        )
    return folder


def statement(kind: str, name: str, sha256: str | None, rows: int | None = None) -> str:
    """A sentence on the identity of an encoder or a text; empty for what comes with cselab.

    >>> statement("encoder", "bert-base-uncased", WEIGHTS["bert-base-uncased"])
    'The encoder bert-base-uncased has the published weights (SHA-256 68d45e234eb4a928).'
    >>> statement("corpus", "wiki1m", None)
    'The corpus wiki1m is not verified, because no published SHA-256 of it is known.'
    """
    if name in BUNDLED or name.startswith("world:"):
        return ""
    what = "weights" if kind == "encoder" else "text"
    ours = "" if sha256 is None else f"SHA-256 {sha256[:16]}"
    counted = "" if rows is None else f"{rows:,} rows"
    said = ", ".join(filter(None, (ours, counted)))
    said = f" ({said})" if said else ""
    if name in KNOWN:
        return f"The {kind} {name} has the {'published weights' if kind == 'encoder' else 'text of our records'}{said}."
    if name in CORPORA or sha256 is None:
        return f"The {kind} {name} is not verified{said}, because no published SHA-256 of it is known."
    return f"The {kind} {name} is not a published file of {what}{said}."
