"""Numbers that a cell of a lesson shows and does not record, computed again: on fewer sentences, in under a second."""

from collections import Counter
from collections.abc import Callable
from functools import cache

import numpy as np
import torch
from cselab_lab.lessons import lesson
from cselab_lab.lessons.checks.embedding_maps import eight_topics
from cselab_widgets.kit.sources import dropout_views
from scipy.stats import spearmanr
from sklearn.decomposition import PCA
from torch.nn.functional import normalize

from cselab.encoders.pooling import mean_tokens
from cselab.losses import multi_positive_info_nce
from cselab.metrics import mean_cosine, spectrum
from cselab.sgw import covariance, group_whitening_matrix, whitening_matrix
from cselab.transforms import BertWhitening, ComponentsRemoved

Numbers = dict[str, float]
Shown = Callable[[lesson.Lesson], Numbers]


@cache
def of_profile(shown: Shown, profile: str) -> Numbers:
    return shown(plain(profile))


@cache
def plain(profile: str) -> lesson.Lesson:
    return lesson.setup("a lesson", profile)


def dev_sentences(lab: lesson.Lesson, count: int) -> list[str]:
    return [sentence.text for sentence in lab.world.sentences(count, split="dev")]


def hills(lab: lesson.Lesson) -> Numbers:
    """00: the cosines of pairs by their grade, as they are and with the mean subtracted."""
    pairs = lab.world.sts(100, split="dev")
    sides = [lab.plain.encode(side) for side in (pairs.sentences1, pairs.sentences2)]
    centre = ComponentsRemoved(0).fit(lab.plain.encode(lab.corpus[:150])).transform
    before, after = (
        torch.cosine_similarity(*(torch.as_tensor(way(side)) for side in sides)).numpy()
        for way in (lambda rows: rows, centre)
    )
    grades = np.round(pairs.scores)
    return {
        "mean before": before.mean(),
        "mean after": after.mean(),
        "spread before": before.std(),
        "spread after": after.std(),
        "one order": spearmanr(before, after).statistic,
        "top above bottom": (before[grades == 5][:, None] > before[grades == 0]).mean(),
        "mean cosine after": mean_cosine(centre(lab.plain.encode(dev_sentences(lab, 100)))),
    }


def layers(lab: lesson.Lesson) -> dict[str, list[float]]:
    """01: mean cosines, layer by layer."""
    features = lab.plain.tokenize(dev_sentences(lab, 150))
    with torch.no_grad():
        states = lab.plain.backbone(**features, output_hidden_states=True).hidden_states
    kept = features["attention_mask"]
    return {
        "[CLS]": [mean_cosine(layer[:, 0]) for layer in states[1:]],
        "mean of tokens": [mean_cosine(mean_tokens(layer, kept)) for layer in states],
        "single tokens": [mean_cosine(layer[kept.bool()]) for layer in states],
    }


def gibberish(lab: lesson.Lesson) -> Numbers:
    """01: words at random against real sentences, and what three times 50 words keep without the mean."""
    sentences, generator = dev_sentences(lab, 100), np.random.default_rng(0)
    words = [word.lower() for text in lab.corpus[:1000] for word in text.rstrip(".?!").split()]
    draw = {"random words": words}
    draw |= {f"50 words {at}": generator.choice(sorted(set(words)), 50, replace=False) for at in range(3)}
    texts = {
        kind: [" ".join(generator.choice(some, len(text.split()))) + "." for text in sentences]
        for kind, some in draw.items()
    }
    real, vectors = lab.plain.encode(sentences), {kind: lab.plain.encode(made) for kind, made in texts.items()}
    one, other = (
        (rows / np.linalg.norm(rows, axis=1, keepdims=True)).mean(axis=0) for rows in (real, vectors["random words"])
    )
    kept = [mean_cosine(vectors[f"50 words {at}"] - real.mean(axis=0)) for at in range(3)]
    return {"real": mean_cosine(real), "random words to real": one @ other, "least kept by 50 words": min(kept)}


def table_of_words(lab: lesson.Lesson) -> Numbers:
    """01: how frequency goes with the length of a word's vector."""
    counts = Counter(
        piece for row in lab.plain.tokenize(dev_sentences(lab, 600))["input_ids"].tolist() for piece in row
    )
    often = [piece for piece in counts if piece not in lab.plain.tokenizer.all_special_ids]
    lengths = lab.plain.backbone.get_input_embeddings().weight.detach()[often].norm(dim=1)
    return {"frequency and length": spearmanr([counts[piece] for piece in often], lengths).statistic}


def carried(push: torch.Tensor) -> torch.Tensor:
    """The part of a sentence's push that its 1, 2, ... hardest negatives carry, on average."""
    push = push.clone().fill_diagonal_(0).clamp(min=0)
    parts = (push / push.sum(dim=1, keepdim=True)).sort(dim=1, descending=True).values
    return parts[:, :-1].mean(dim=0).cumsum(dim=0)


@cache
def batch_of_64(lab: lesson.Lesson) -> torch.Tensor:
    """02 and 07: the cosines of first and second views, before training."""
    first, second = torch.from_numpy(dropout_views(lab.plain, dev_sentences(lab, 64), times=2))
    return normalize(first) @ normalize(second).T


def push(lab: lesson.Lesson) -> Numbers:
    """02: the margins of a batch, and who carries the push at four temperatures."""
    cosines = batch_of_64(lab)
    others = cosines[~torch.eye(64, dtype=torch.bool)].reshape(64, 63)
    shares = {t: carried((cosines / t).softmax(dim=1)) for t in (0.01, 0.05, 1)}
    return {
        "positives": float(cosines.diagonal().mean()),
        "negatives": float(others.mean()),
        "lead": float((cosines.diagonal() - others.max(dim=1).values).mean()),
        "by the first at 0.01": float(shares[0.01][0]),
        "by a third at 0.05": float(shares[0.05][20]),
        "half at 1": int((shares[1] < 0.5).sum()) + 1,
        "below -m / 2": int((others < -0.15).sum()),
    }


def pulls(lab: lesson.Lesson) -> dict[float, float]:
    """07: how hard Focal-InfoNCE pulls a positive, over InfoNCE, by the positive's cosine; negatives have 0.4."""
    found = {}
    for cosine in (0.3, 0.65, 0.75, float(batch_of_64(lab).diagonal().mean())):
        p = 1 / (1 + 63 * np.exp((0.4 - cosine) / 0.05))
        focal = 1 / (1 + 63 * np.exp((0.4 * 0.7 - cosine**2) / 0.07))
        found[cosine] = float((1 - focal) * 2 * cosine / 0.07 / ((1 - p) / 0.05))
    return found


def cloud(lab: lesson.Lesson) -> Numbers:
    """03: how far three ways to whiten two channels move a point, and what correlation one channel a group leaves."""
    normal = torch.randn(300, 2, generator=torch.Generator().manual_seed(0))
    points = normal @ torch.tensor([[1.1, 1.6], [-0.45, 0.3]])
    points = points - points.mean(0)
    C = covariance(points)
    ways = {kind: whitening_matrix(C, kind) for kind in ("pca", "zca")} | {"group": group_whitening_matrix(C, 2)}
    moved = {name: float((points @ W - points).norm(dim=1).mean()) for name, W in ways.items()}
    left = (torch.corrcoef((points @ ways["group"]).T) / torch.corrcoef(points.T))[0, 1]
    return moved | {"correlation left": float(left)}


def spectra(lab: lesson.Lesson) -> Numbers:
    """03: how round sentences are that the matrix has not seen, and what a batch smaller than the width does."""
    fitted_on, unseen = lab.plain.encode(lab.corpus[:500]), lab.plain.encode(dev_sentences(lab, 150))
    width = fitted_on.shape[1]
    before = spectrum(unseen)
    whitened = spectrum(BertWhitening(width - 8).fit(fitted_on).transform(unseen))

    def largest(rows: int, groups: int) -> float:
        batch = torch.from_numpy(fitted_on[:rows])
        W = group_whitening_matrix(covariance(batch), groups, eps=1e-6).numpy()
        return float(spectrum((unseen - fitted_on[:rows].mean(0)) @ W)[0])

    batch = torch.from_numpy(fitted_on[:64])
    white = (batch - batch.mean(0)) @ group_whitening_matrix(covariance(batch), 1, eps=1e-6)
    return {
        "first ten": before[:10].sum() / before.sum(),
        "roundness before": before[9] / before[0],
        "first ten, whitened": whitened[:10].sum() / whitened.sum(),
        "share of a channel": float(white.var(0, correction=0).mean()) * width / 63,
        "64 rows, one group": largest(64, 1),
        "64 rows, 32 groups": largest(64, 32),
        "64 rows, groups of two": largest(64, width // 2),
    }


def groups(lab: lesson.Lesson) -> dict[str, list[float]]:
    """04: distance of the views, loss and gradient by the number of groups, from one pass and from three."""
    tables = torch.from_numpy(dropout_views(lab.plain, lab.corpus[:64], 3))
    width, found = tables.shape[2], {}
    orders = [torch.randperm(width, generator=torch.Generator().manual_seed(shuffle)) for shuffle in range(3)]
    for passes in (1, 3):
        for k in (8, 32, width // 2, width):
            x = tables.clone().requires_grad_()
            views = []
            for at, order in enumerate(orders):
                shuffled = x[at if passes == 3 else 0][:, order]
                W = group_whitening_matrix(covariance(shuffled.detach()), k, eps=1e-6)
                views.append(((shuffled - shuffled.mean(0)) @ W)[:, order.argsort()])
            loss = multi_positive_info_nce(views[0], views[1:], 0.05).total
            gradient = torch.autograd.grad(loss, x)[0].norm(dim=2).sum() * tables.norm(dim=2).mean()
            units = [normalize(view.detach()) for view in views]
            apart = [(units[a] - units[b]).square().sum(dim=1).mean() for a, b in ((0, 1), (0, 2), (1, 2))]
            for what, value in {"distance": sum(apart) / 3, "loss": loss.detach(), "gradient": gradient}.items():
                found.setdefault(f"{what}, {passes}", []).append(float(value))
    return found


def copies(lab: lesson.Lesson) -> Numbers:
    """06: the rank of one sentence under 64 dropout masks."""
    (view,) = torch.from_numpy(dropout_views(lab.plain, lab.corpus[:1] * 64, times=1)).double()
    return {"rank": int(torch.linalg.matrix_rank(view))}


def maps(lab: lesson.Lesson) -> Numbers:
    """09: whether halves agree without the mean, and how wide PCA draws two balls."""
    sentences, topics = eight_topics(lab.world)
    vectors, named = lab.plain.encode(sentences), np.array(topics)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def nearest(rows: np.ndarray) -> np.ndarray:
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        near = rows @ rows.T
        np.fill_diagonal(near, -np.inf)
        return np.argsort(-near, axis=1, kind="stable")[:, :10]

    def agree(rows: np.ndarray) -> float:
        half = rows.shape[1] // 2
        pairs = zip(nearest(rows[:, :half]).tolist(), nearest(rows[:, half:]).tolist(), strict=True)
        return float(np.mean([len(set(one) & set(other)) / 10 for one, other in pairs]))

    pulled = unit.copy()
    for topic, share in (("sport", 1 / 4), ("cooking", 1 / 20)):
        centre = pulled[named == topic].mean(axis=0)
        pulled[named == topic] = centre + share * (pulled[named == topic] - centre)
    flat = PCA(2).fit_transform(pulled)
    wide = [np.linalg.norm(flat[named == topic].std(axis=0)) for topic in ("sport", "cooking")]
    return {
        "halves agree": agree(vectors),
        "halves agree without the mean": agree(vectors - vectors.mean(axis=0)),
        "by chance": 10 / (len(sentences) - 1),
        "sport over cooking by PCA": wide[0] / wide[1],
    }


def two_views(lab: lesson.Lesson) -> Numbers:
    """13: the cosine of two views of the bundled BERT."""
    one, two = torch.from_numpy(dropout_views(lab.plain, dev_sentences(lab, 64), times=2))
    return {"BERT": float(torch.cosine_similarity(one, two).mean())}
