import numpy as np
import pytest
from huggingface_hub import HfApi, ModelCard
from huggingface_hub.utils import filter_repo_objects
from tiny import make_encoder, make_sentences, short_run

from cselab import SentenceEncoder, evaluate
from cselab.encoders.checkpoint import CheckpointError
from cselab.evaluators import PairsEvaluator
from cselab.integrations.hub import model_card, push_to_hub

SENTENCES = make_sentences(24)
PAIRS = [(SENTENCES[row], SENTENCES[row + 1], float(row % 6)) for row in range(20)]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A finished run."""
    folder = tmp_path_factory.mktemp("runs") / "simcse"
    return short_run(evaluator=PairsEvaluator(PAIRS), output=folder, eval_every=1, seed=7)


@pytest.fixture
def hub(monkeypatch):
    """What reached the hub's boundary: the repository, its options, and the content of each file."""
    seen = {}

    def upload_folder(self, *, repo_id, folder_path, allow_patterns):
        names = [path.relative_to(folder_path).as_posix() for path in folder_path.rglob("*") if path.is_file()]
        seen["repo"] = repo_id
        seen.update(
            {
                name: (folder_path / name).read_bytes()
                for name in filter_repo_objects(names, allow_patterns=allow_patterns)
            }
        )
        return "https://huggingface.co/me/mine/commit/1"

    monkeypatch.setattr(HfApi, "create_repo", lambda self, repo_id, **options: seen.update(made=options))
    monkeypatch.setattr(HfApi, "upload_folder", upload_folder)
    monkeypatch.setattr(ModelCard, "push_to_hub", lambda self, repo_id: seen.update({"README.md": str(self).encode()}))
    return seen


def test_the_card_has_scores_seed_versions_and_data(run):
    scores = evaluate(run.encoder, PAIRS)
    card = ModelCard(model_card(run.output, "me/mine", scores))
    (result,) = card.data.eval_results
    (record,) = scores.records[:1]
    assert (result.metric_type, result.metric_value) == ("spearman", pytest.approx(record.value, abs=1e-4))
    assert result.dataset_revision == record.data_hash and card.data.library_name == "sentence-transformers"
    assert str(scores) in card.text and f"{record.value:.2f}" in str(scores)
    for told in ('"name": "simcse"', '"seed": 7', '"sentences": 24', '"torch": "2.', "not a test score", "me/mine"):
        assert told in card.text, told


def test_a_card_with_scores_of_another_pooling_is_refused(run):
    assert "has not been evaluated" in model_card(run.output, "me/mine")
    other = run.encoder.copy()
    other.pooling = "mean" if run.encoder.pooling == "cls" else "cls"
    with pytest.raises(ValueError, match=r"was measured with pooling .*evaluate the encoder as it is saved"):
        model_card(run.output, "me/mine", evaluate(other, PAIRS))


@pytest.mark.parametrize("given", ["folder", "encoder"])
def test_what_is_uploaded_opens_and_gives_the_same_vectors(given, run, hub, tmp_path):
    before = sorted(path.name for path in run.output.rglob("*"))
    address = push_to_hub(run.output if given == "folder" else run.encoder, "me/mine")
    assert address.endswith("/commit/1") and hub["repo"] == "me/mine" and hub["made"]["private"] is True
    assert sorted(path.name for path in run.output.rglob("*")) == before
    assert ("run.json" in hub) == ("history.jsonl" in hub) == (given == "folder")
    for name, content in hub.items():
        if isinstance(content, bytes):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(content)
    np.testing.assert_allclose(SentenceEncoder(tmp_path).encode(SENTENCES), run.encoder.encode(SENTENCES), atol=1e-6)
    assert (tmp_path / "README.md").read_text().startswith("---\n")


def test_an_unfinished_or_altered_folder_is_not_pushed(hub, tmp_path):
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(CheckpointError, match="the run is not finished"):
        push_to_hub(tmp_path, "me/mine")
    make_encoder().save_pretrained(tmp_path / "encoder")
    with open(tmp_path / "encoder/model.safetensors", "ab") as file:
        file.write(b"x")
    with pytest.raises(CheckpointError, match="altered or damaged"):
        push_to_hub(tmp_path / "encoder", "me/mine")
    assert hub == {}
