"""`--prompt-name`: before every sentence of `encode` and `evaluate`, before the queries of `search`."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from cselab_lab import cli
from safetensors.numpy import load_file
from tiny import make_encoder, make_sentences

TEXTS = make_sentences(24)


def run(*arguments):
    return CliRunner().invoke(cli.app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    encoder = make_encoder()
    encoder.prompts = {"query": "this cat sees ", "document": "the old "}
    path = tmp_path_factory.mktemp("prompted")
    encoder.save_pretrained(path / "encoder")
    (path / "corpus.txt").write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    pairs = zip(TEXTS[:12], TEXTS[12:], range(12), strict=True)
    (path / "pairs.tsv").write_text("".join(f"{one}\t{two}\t{row % 6}\n" for one, two, row in pairs), encoding="utf-8")
    return path, encoder


@pytest.mark.parametrize("ending", [".npy", ".safetensors"])
def test_encode_writes_prompted_vectors(folder, ending, tmp_path):
    path, encoder = folder
    file = tmp_path / f"vectors{ending}"
    found = run("encode", path / "encoder", path / "corpus.txt", "--output", file, "--prompt-name", "query", "-q")
    assert found.exit_code == 0, found.output
    vectors = np.load(file) if ending == ".npy" else load_file(file)["vectors"]
    np.testing.assert_allclose(vectors, encoder.encode(TEXTS, prompt_name="query"), atol=1e-6)


def test_search_puts_it_before_the_queries_alone(folder):
    path, encoder = folder
    found = run("search", path / "encoder", path / "corpus.txt", "a cat", "--prompt-name", "query", "--format", "json")
    query, texts = encoder.encode("this cat sees a cat"), encoder.encode(TEXTS)
    expected = sorted(encoder.similarity(texts, query[None])[:, 0].tolist(), reverse=True)[:10]
    assert [row["cosine"] for row in json.loads(found.output)] == pytest.approx(expected, abs=1e-5)


def test_evaluate_scores_prompted_sentences_and_says_where_there_are_no_prompts(folder, tmp_path):
    path, _ = folder
    command = ("evaluate", path / "encoder", "--suite", path / "pairs.tsv", "--json", tmp_path / "scores.json")
    for posthoc in ((), ("--posthoc", "whitening", "--fit", path / "corpus.txt")):
        scores = []
        for prompt in ("query", "document"):
            found = run(*command, *posthoc, "--prompt-name", prompt)
            assert found.exit_code == 0, found.output
            record, *_ = json.loads((tmp_path / "scores.json").read_text())["records"]
            assert record["encoder"].endswith(f"prompt {prompt}")
            scores.append(record["value"])
        assert scores[0] != scores[1]
    assert "has ['query', 'document']" in run(*command, "--prompt-name", "passage").output
    assert "random has no prompts" in run("evaluate", "random", *command[2:], "--prompt-name", "query").output
