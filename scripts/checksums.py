"""Write cselab/assets/checksums.json: SHA-256 of every file of the bundled encoders."""

import hashlib
import json
from pathlib import Path

ASSETS = Path(__file__).resolve().parents[1] / "cselab" / "assets"

if __name__ == "__main__":
    sums = {
        file.relative_to(ASSETS).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(ASSETS.glob("*/*"))
        if file.suffix in (".json", ".safetensors")
    }
    (ASSETS / "checksums.json").write_text(json.dumps(sums, indent=2) + "\n", encoding="utf-8")
