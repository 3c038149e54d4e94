"""Where an encoder lies: bundled, in a folder, or on the hub."""

from pathlib import Path

from cselab.bundled import BUNDLED, bundled_folder
from cselab.storage.checkpoint import CheckpointError


def find_encoder(name_or_path: str | Path, revision: str | None) -> tuple[Path, str]:
    """The folder of an encoder and the name that results will carry."""
    name = str(name_or_path)
    if name in BUNDLED:
        return bundled_folder(name), name
    path = Path(name_or_path).expanduser()
    if path.is_dir():
        if not (path / "config.json").exists():
            unfinished = ": it is a run that is not finished" if (path / "run.json").exists() else ""
            raise CheckpointError(f"{path} is not an encoder: it has no config.json{unfinished}")
        return path, path.resolve().name
    if path.exists() or name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise CheckpointError(f"there is no encoder folder {path}")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        wanted = ["*.json", "*.txt", "*.model", "model*.safetensors", "*/config.json", "*/model.safetensors"]
        return Path(snapshot_download(name, revision=revision, allow_patterns=wanted)), name
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise CheckpointError(
            f"no encoder {name!r}: not bundled ({', '.join(BUNDLED)}), not a folder, and not to be had from the "
            f"hub ({reason})"
        ) from None
