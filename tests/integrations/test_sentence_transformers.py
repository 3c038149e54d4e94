import json
from unittest import TestCase

import numpy as np
import pytest
from cselab_widgets import TrainingMonitor
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.evaluation import EmbeddingSimilarityEvaluator
from tiny import make_encoder, make_sentences
from transformers import TrainerState

from cselab.data import Pairs
from cselab.evaluators import evaluate
from cselab.integrations.sentence_transformers import GeometryEvaluator

FIRST, SECOND = make_sentences(12), make_sentences(12, seed=1)
SCORES = [5.0, 0.0, 4.5, 2.0, 3.0, 4.0] * 2
MEASURES = ("alignment", "uniformity", "mean_cosine", "feature_correlation", "effective_rank")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("encoder")
    make_encoder().save_pretrained(place)
    return str(place)


@pytest.fixture
def model(folder):
    return SentenceTransformer(folder, device="cpu")


def test_the_numbers_are_those_of_cselab(model):
    ours = evaluate(model, "geometry", Pairs(FIRST, SECOND, SCORES)).scores
    evaluator = GeometryEvaluator(FIRST, SECOND, SCORES, name="dev")
    theirs = evaluator(model, steps=7)
    for measure in MEASURES:
        assert theirs[f"dev_{measure}"] == pytest.approx(ours[measure], abs=1e-6)
    assert evaluator.primary_metric == "dev_uniformity"


def test_without_scores_all_pairs_are_positive(model):
    positive = [row for row, score in enumerate(SCORES) if score > 4]
    chosen = GeometryEvaluator([FIRST[row] for row in positive], [SECOND[row] for row in positive])(model)
    scored = GeometryEvaluator(FIRST, SECOND, SCORES)(model)
    assert chosen["alignment"] == pytest.approx(scored["alignment"], abs=1e-6)
    assert "alignment" not in GeometryEvaluator(FIRST)(model)


def test_the_numbers_of_the_last_call_are_in_the_model_card(model):
    evaluator = GeometryEvaluator(FIRST, SECOND, SCORES, name="dev")
    metrics = [evaluator(model, None, epoch, steps) for epoch, steps in ((0.5, 4), (1.0, 8))]
    assert model.model_card_data.eval_results_dict[evaluator] == metrics[1]


def test_a_collapsed_model_has_no_number_but_a_reason(model):
    class Collapsed:
        model_card_data = model.model_card_data

        def encode(self, sentences, **options):
            return np.ones((len(sentences), 4), dtype=np.float32)

    with TestCase().assertLogs(level="WARNING") as logged:
        metrics = GeometryEvaluator(FIRST, SECOND)(Collapsed())
    assert list(metrics) == list(MEASURES)
    assert all(np.isnan(list(metrics.values())))
    assert "point the same way" in logged.output[0]


@pytest.mark.parametrize(
    "given, told",
    [
        (([],), "sentences is empty"),
        ((FIRST, SECOND[:3]), "12 first sentences, 3 second ones"),
        ((FIRST, None, SCORES), "give sentences2"),
        ((FIRST, SECOND, [score / 5 for score in SCORES]), r"highest is 1.0\).*such as 0.8"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(given, told):
    with pytest.raises(ValueError, match=told):
        GeometryEvaluator(*given)


LOG = [
    {"eval_dev_spearman_cosine": 0.25, "eval_dev_alignment": 0.2, "eval_dev_uniformity": -1.0, "epoch": 0, "step": 0},
    {"loss": 1.5, "grad_norm": 8.0, "learning_rate": 5e-5, "epoch": 0.2, "step": 4},
    {"eval_dev_spearman_cosine": 0.3, "eval_own": 0.5, "eval_dev_uniformity": -1.5, "eval_runtime": 1.0, "step": 4},
    {"train_runtime": 3.0, "train_loss": 1.5, "step": 4},
]
HISTORY = [
    {"step": 0, "score": 25.0, "alignment": 0.2, "uniformity": -1.0},
    {"step": 4, "score": 30.0, "uniformity": -1.5, "loss": 1.5, "gradient_norm": 8.0},
]


def test_the_monitor_shows_the_log_of_a_checkpoint(tmp_path):
    (tmp_path / "trainer_state.json").write_text(json.dumps({"log_history": LOG}))
    monitor = TrainingMonitor({"theirs": TrainerState.load_from_json(tmp_path / "trainer_state.json")})
    assert monitor.state.others == {"theirs": (tuple(HISTORY),)}


def test_their_trainer_logs_it_and_the_monitor_reads_it(model, tmp_path):
    datasets = pytest.importorskip("datasets", reason="their trainer needs it: pip install -c constraints.txt datasets")
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    settings = SentenceTransformerTrainingArguments(
        output_dir=str(tmp_path), max_steps=4, per_device_train_batch_size=4, eval_strategy="steps", eval_steps=2,
        logging_steps=1, report_to="none", disable_tqdm=True, use_cpu=True, dataloader_pin_memory=False,
    )  # fmt: skip
    evaluators = [
        GeometryEvaluator(FIRST, SECOND, SCORES, name="dev"),
        EmbeddingSimilarityEvaluator(FIRST, SECOND, SCORES, name="dev"),
    ]
    trainer = SentenceTransformerTrainer(
        model,
        settings,
        train_dataset=datasets.Dataset.from_dict({"anchor": FIRST, "positive": SECOND}),
        loss=MultipleNegativesRankingLoss(model),
        evaluator=evaluators,
    )
    with pytest.raises(ValueError, match="has no rows with a 'step'"):
        TrainingMonitor({"theirs": trainer})
    trainer.train()
    monitor = TrainingMonitor({"theirs": trainer})
    rows = {row["step"]: row for row in monitor.state.others["theirs"][0]}
    assert list(rows) == [1, 2, 3, 4] and all("loss" in row for row in rows.values())
    ours = evaluate(model, "geometry", Pairs(FIRST, SECOND, SCORES)).scores
    shown = ["alignment", "uniformity", "effective_rank"]
    assert [rows[4][measure] for measure in shown] == pytest.approx([ours[measure] for measure in shown], abs=1e-6)
    assert rows[4]["score"] == pytest.approx(evaluate(model, Pairs(FIRST, SECOND, SCORES)).scores["pairs"], abs=1e-3)
    figure = monitor.figure()
    assert any(list(trace.x) == [2, 4] for trace in figure.data if trace.x is not None)
