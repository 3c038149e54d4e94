"""Write cselab/assets/checksums.json: SHA-256 of every file of the bundled encoders."""

import json
from pathlib import Path

from cselab._util.checksums import sha256_of

ASSETS = Path(__file__).resolve().parents[1] / "cselab" / "assets"

if __name__ == "__main__":
    sums = {
        file.relative_to(ASSETS).as_posix(): sha256_of(file)
        for file in sorted(ASSETS.glob("*/*"))
        if file.suffix in (".json", ".safetensors")
    }
    (ASSETS / "checksums.json").write_text(json.dumps(sums, indent=2) + "\n", encoding="utf-8")
