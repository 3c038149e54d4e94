"""Where an encoder is found: bundled with the package, in a folder, or on the hub. Known without torch."""

import os
import shlex
import subprocess
from functools import cache
from pathlib import Path

from cselab._util.checksums import CheckpointError, sha256_of
from cselab._util.reading import NOT_FETCHED, is_pointer, read_json

ASSETS = Path(__file__).parents[1] / "assets"
CHECKSUMS = ASSETS / "checksums.json"


BUNDLED = tuple(sorted({name.split("/")[0] for name in read_json(CHECKSUMS)}))
BUNDLED_POOLINGS = {
    "micro": "mean"
}  # contrastive training damages its [CLS], the papers' pooling of a plain checkpoint: see its README


@cache
def bundled_folder(name: str) -> Path:
    """The folder of a bundled encoder, each of its files checked against its checksum once.

    Raises:
        CheckpointError: a file is missing or damaged; the message names the file.
    """
    for file, wanted in read_json(CHECKSUMS).items():
        if file.startswith(f"{name}/"):
            check_bundled(ASSETS / file, wanted)
    return ASSETS / name


def check_bundled(path: Path, sha256: str) -> None:
    """Compare a file with its checksum.

    Raises:
        CheckpointError: missing or different; the message names the file.
    """
    if not path.exists():
        raise CheckpointError(f"{path} is missing: install cselab again")
    actual = sha256_of(path)
    if actual != sha256:
        raise CheckpointError(
            f"{path} is damaged (sha256 {actual[:12]}..., not {sha256[:12]}...): install cselab again"
        )


HUB_FILES = [  # of the hub's files: those of an encoder, and no pickles
    "*.json", "*.txt", "*.model", "*/config.json",
    "model*.safetensors", "*/model.safetensors", "prefix.safetensors",
]  # fmt: skip


def find_encoder(name_or_path: str | Path, revision: str | None) -> tuple[Path, str]:
    """The folder of an encoder and the name that results will carry."""
    name = str(name_or_path)
    if name in BUNDLED:
        return bundled_folder(name), name
    path = Path(os.path.expanduser(name_or_path))
    if path.is_dir():
        if not (path / "config.json").exists():
            why = ": the run is not finished" if (path / "run.json").exists() else ""
            if (path / "modules.json").exists():
                why = (
                    " (a static model, for example, has none): sentence-transformers opens it, and "
                    f"evaluate(SentenceTransformer({str(path)!r}), ...) scores it"
                )
            raise CheckpointError(f"{path} is not an encoder: config.json is missing{why}")
        pickles = () if list(path.glob("model*.safetensors")) else ("*.bin",)
        for file in sorted(file for pattern in (*HUB_FILES, *pickles) for file in path.glob(pattern)):
            if is_pointer(file):
                raise CheckpointError(f"{file} {NOT_FETCHED}")
        return path, path.resolve().name
    if path.exists() or name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise CheckpointError(f"the encoder folder {path} does not exist")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        fetched = Path(snapshot_download(name, revision=revision, allow_patterns=HUB_FILES))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        raise CheckpointError(
            f"no encoder {name!r}: not bundled ({', '.join(BUNDLED)}), not a folder, and not found on the "
            f"hub ({reason_of(error)})"
        ) from None
    if not list(fetched.glob("model*.safetensors")):
        raise CheckpointError(
            f"{name} has no safetensors weights on the hub; pytorch_model.bin is a pickle, which can run code when "
            f"it is opened, and was not fetched. If you trust it, convert it: {converting_line(name, revision)}"
        )
    return fetched, name


def reason_of(error: Exception) -> str:
    """The first line of an error, for a message of one line; its type if it has none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def converting_line(name: str, revision: str | None = None) -> str:
    """The command that copies an encoder of the hub or of a folder, with its weights as safetensors.

    The remaining files are copied too, for example those with the pooling.
    """
    there = f"{Path(name).name}-safetensors"
    if Path(name).is_dir():
        there = str(Path(name).with_name(there))
        copied = f"from shutil import copytree; copytree({name!r}, {there!r})"
    else:
        chosen = "" if revision is None else f", revision={revision!r}"
        files = "allow_patterns=['*.json', '*.txt', '*.model', '*.bin']"
        copied = (
            f"from huggingface_hub import snapshot_download; "
            f"snapshot_download({name!r}{chosen}, local_dir={there!r}, {files})"
        )
    opened = f"AutoModel.from_pretrained({there!r}, trust_remote_code=False).save_pretrained({there!r})"
    quoted = subprocess.list2cmdline if os.name == "nt" else shlex.join
    return quoted(["python", "-c", f"{copied}; from transformers import AutoModel; {opened}"])
