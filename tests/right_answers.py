"""Right answers of every exercise: ways to write a function, or values that fulfil what is asked."""

import hashlib
from inspect import isfunction
from itertools import cycle

import numpy as np
import torch
import torch.nn.functional as F
from cselab_lab.lessons.checks.rank_bottleneck import SENTENCES, batch
from scipy.stats import rankdata, spearmanr
from spellings import RETURNED, of_a_dictionary, of_a_function, of_a_number, of_texts

from cselab import SentenceEncoder
from cselab.encoders.pooling import last_token
from cselab.evaluators import TransformedEncoder
from cselab.losses import (
    decoupled_info_nce,
    dimension_contrastive,
    info_nce,
    multi_positive_info_nce,
    off_dropout_info_nce,
)
from cselab.methods import MixCSE, SNCSEDropout
from cselab.metrics import barlow_twins_floor, rank
from cselab.metrics.significance import paired_bootstrap
from cselab.sgw import shuffled_group_whiten
from cselab.transforms import BertWhitening, ComponentsRemoved, fit


def unit(v):
    return F.normalize(v, dim=1)


def normed(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def own(c):
    return torch.eye(len(c), dtype=torch.bool)


def labels(c):
    return torch.arange(len(c))


# ---- 00 ---------------------------------------------------------------------------------------------------


def uniformity_by_loop(v, t=2):
    u = normed(v.numpy())
    terms = [np.exp(-t * ((u[i] - u[j]) ** 2).sum()) for i in range(len(u)) for j in range(i)]
    return np.log(sum(terms) / len(terms))


INFO_NCE = [
    lambda c, t=0.05: ((c / t).logsumexp(1) - (c / t).diagonal()).mean(),
    lambda c, t=0.05: F.cross_entropy(c / t, labels(c)),
    lambda c, t=0.05: -(c / t).log_softmax(1).diagonal().mean().item(),
    lambda c, t=0.05: np.mean([np.logaddexp.reduce((row - row[i]) / t) for i, row in enumerate(c.double().numpy())]),
]
FOOLING = ("The girl hugs the boy.", "The boy hugs the girl.")
FOOLED = [
    *of_texts(FOOLING).values(),
    ("A cook is peeling an onion.", "A cook is not peeling an onion."),
    ("Two men ride a horse.", "Five men ride a horse."),
    ("He bought a red car.", "He sold a red car."),
    ("The dog bit the man.", "The dog was bitten by the man."),
    ("The girl and the boy hug the dog.", "The girl and the dog hug the boy."),
]

# ---- 01 ---------------------------------------------------------------------------------------------------


def mean_cosine(x):
    total, n = normed(x).sum(axis=0), len(x)
    return (total @ total - n) / (n * (n - 1))


def mean_cosine_in_torch(x):
    total = F.normalize(torch.from_numpy(np.array(x)), dim=1).sum(0)
    return (total.square().sum() - len(x)) / (len(x) * (len(x) - 1))


def mean_cosine_by_loop(x):
    total, n = [0.0] * x.shape[1], len(x)
    for row in np.asarray(x).tolist():
        length = sum(value * value for value in row) ** 0.5
        total = [have + value / length for have, value in zip(total, row, strict=True)]
    return (sum(value * value for value in total) - n) / n / (n - 1)


MEAN_COSINE = [mean_cosine, mean_cosine_in_torch, mean_cosine_by_loop]


def removed(x, k):
    x = x - x.mean(0)
    axes = np.linalg.svd(x, full_matrices=False)[2][:k]
    return x - x @ axes.T @ axes


def removed_by_eigh(x, k):
    x = x - x.mean(0)
    axes = np.linalg.eigh(x.T @ x)[1][:, ::-1][:, :k]
    return x - np.einsum("id,dk,ek->ie", x, axes, axes)


REMOVAL = [removed, removed_by_eigh, lambda x, k: ComponentsRemoved(k).fit(x).transform(x)]
REPORT = "According to the report, inflation rose to 3.5 per cent in March."

# ---- 02 ---------------------------------------------------------------------------------------------------


def padded_by_tensors(rows, longest, pad=0):
    rows = [row if len(row) <= longest else row[: longest - 1] + row[-1:] for row in rows]
    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=pad)
    return ids, torch.arange(ids.shape[1]) < torch.tensor([[len(row)] for row in rows])


def padded_by_loop(rows, longest, pad=0):
    rows = [[*row[:-1][: longest - 1], row[-1]] for row in rows]
    ids = np.full((len(rows), max(map(len, rows))), pad)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
    mask = [[float(j < len(row)) for j in range(ids.shape[1])] for row in rows]
    return ids, np.array(mask)


PADDED = [padded_by_tensors, padded_by_loop]


def pooled_by_loop(layer, mask, kind):
    if kind == "cls":
        return [tokens[0].tolist() for tokens in layer]
    return [tokens[own.bool()].mean(0).tolist() for tokens, own in zip(layer, mask, strict=True)]


POOLED = [
    lambda layer, mask, kind: (
        layer[:, 0] if kind == "cls" else torch.einsum("ntd,nt->nd", layer, mask / mask.sum(1, keepdim=True))
    ),
    pooled_by_loop,
]


def in_turn(network, ids, mask):
    rows = network(ids.repeat_interleave(2, 0), mask.repeat_interleave(2, 0))
    return rows[::2], rows[1::2]


def VIEWS():
    """Gradients must go through, so these are spelled by hand."""

    def stacked(network, ids, mask):
        return network(torch.cat([ids, ids]), torch.cat([mask, mask]))

    return [
        lambda n, ids, mask: (n(ids, mask), n(ids, mask)),
        lambda n, ids, mask: [n(ids, mask) for _ in range(2)],
        lambda n, ids, mask: torch.stack([n(ids, mask), n(ids, mask)]).unbind(),
        lambda n, ids, mask: stacked(n, ids, mask).chunk(2),
        lambda n, ids, mask: list(stacked(n, ids, mask).split(len(ids))),
        lambda n, ids, mask: stacked(n, ids, mask).unflatten(0, (2, -1)).unbind(),
        lambda n, ids, mask: n(ids.repeat(2, 1), mask.repeat(2, 1)).tensor_split(2),
        lambda n, ids, mask: tuple(stacked(n, ids, mask).view(2, len(ids), -1)),
        in_turn,
    ]


def loss_by_loop(first, second, t=0.05):
    a, b = normed(first.double().numpy()), normed(second.double().numpy())
    rows = [[float(x @ y) / t for y in b] for x in a]
    return np.mean([np.logaddexp.reduce(row) - row[i] for i, row in enumerate(rows)])


LOSS = [lambda a, b, t=0.05: F.cross_entropy(unit(a) @ unit(b).T / t, labels(a)), loss_by_loop]


def adam_by_lists(weight, gradient, m, v, step, lr):
    found = []
    for w, g, a, b in zip(weight, gradient, m, v, strict=True):
        a, b = 0.9 * float(a) + 0.1 * float(g), 0.999 * float(b) + 0.001 * float(g) ** 2
        found.append((float(w) - lr * a / (1 - 0.9**step) / (np.sqrt(b / (1 - 0.999**step)) + 1e-8), a, b))
    return np.transpose(found)


def adam_by_lerp(weight, gradient, m, v, step, lr):
    m, v = m.lerp(gradient, 0.1), v.lerp(gradient.square(), 0.001)
    bias = (1 - 0.999**step) ** 0.5
    return weight - lr * bias / (1 - 0.9**step) * m / (v.sqrt() + 1e-8 * bias), m, v


ADAM = [adam_by_lerp, adam_by_lists]


def training_by_autograd(model, loss, adam, batches, lr):
    memory, losses = {}, []
    for left, texts in zip(range(len(batches), 0, -1), batches, strict=True):
        found = loss(*model(texts))
        named = dict(model.named_parameters())
        gradients = torch.autograd.grad(found, named.values(), allow_unused=True)
        norm = sum(float(g.square().sum()) for g in gradients if g is not None) ** 0.5
        for (name, weight), g in zip(named.items(), gradients, strict=True):
            if g is not None:
                past = memory.get(name, (0 * g, 0 * g))
                step = len(batches) - left + 1
                new, *memory[name] = adam(weight.data, g / max(1, norm), *past, step, lr * left / len(batches))
                weight.data = new
        losses.append(found.item())
    return losses


def training_by_torch(model, loss, adam, batches, lr):
    """Whoever takes torch's optimiser trains rightly."""
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=lr), []
    for step, texts in enumerate(batches):
        optimizer.param_groups[0]["lr"] = lr * (1 - step / len(batches))
        found = loss(*model(texts))
        optimizer.zero_grad()
        found.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        losses.append(found.detach())
    return losses


def gradient_by_autograd(c, t=0.05):
    c = c.clone().requires_grad_()
    F.cross_entropy(c / t, labels(c), reduction="sum").backward()
    return c.grad


# ---- 03 ---------------------------------------------------------------------------------------------------


def zca_by_eigh(x, eps=0.0):
    z = x - x.mean(0)
    values, axes = torch.linalg.eigh(z.T @ z / len(x))
    return axes @ torch.diag((values + eps) ** -0.5) @ axes.T


def zca_in_numpy(x, eps=0.0):
    values, axes = np.linalg.eigh(np.cov(x.numpy(), rowvar=False, bias=True))
    return np.einsum("ik,k,jk->ij", axes, 1 / np.sqrt(values + eps), axes)


ZCA = [zca_by_eigh, zca_in_numpy]


def score(whiten, pairs, correlation=spearmanr, cosine=True):
    a, b = whiten(pairs[0]), whiten(pairs[1])
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1) if cosine else 1
    return correlation((a * b).sum(1) / lengths, pairs[2])[0]


def by_eigenvalues(rows, k, power=-0.5, order=slice(None, None, -1), centre=True):
    values, axes = np.linalg.eigh(np.cov(rows, rowvar=False))
    kernel = (axes[:, order] * values[order] ** power)[:, :k]
    return lambda x: (x - rows.mean(0) * centre) @ kernel


def choice_with_cselab(corpus, dev, test, ks):
    fitted = {k: BertWhitening(k).fit(corpus).transform for k in ks}
    best = max(ks, key=lambda k: score(fitted[k], dev))
    return best, score(fitted[best], test)


def choice_by_loop(corpus, dev, test, ks):
    best, highest = None, -2
    for k in ks:
        if (found := score(by_eigenvalues(corpus, k), dev)) > highest:
            best, highest = k, found
    return np.array([best, score(by_eigenvalues(corpus, best), test)])


CHOICE = [choice_with_cselab, choice_by_loop]
FAR = "Why, why, why?", "no no no no no", "one two three four five six seven", "Where? When? How?"

# ---- 04 ---------------------------------------------------------------------------------------------------


def covariance_by_loop(x):
    rows = x.double().numpy()
    middle = [sum(column) / len(rows) for column in rows.T]
    gaps = [[value - mean for value, mean in zip(row, middle, strict=True)] for row in rows]
    width = range(len(middle))
    return [[sum(gap[c] * gap[d] for gap in gaps) / len(rows) for d in width] for c in width]


def root_by_loop(c, eps=1e-6):
    values, axes = np.linalg.eigh(c.double().numpy())
    return sum(np.outer(axis, axis) / np.sqrt(value + eps) for value, axis in zip(values, axes.T, strict=True))


def zca_of(values, axes, eps):
    return torch.einsum("ik,k,jk->ij", axes, (values + eps).rsqrt(), axes)


def WHITENED():
    """Gradients must go through, so these are spelled by hand."""

    def rows_first(x, c, w):
        return torch.stack([w(c(x)).detach() @ (row - x.mean(0)) for row in x])

    def without_gradient(x, c, w):
        with torch.no_grad():
            matrix = w(c(x))
        return (x - x.mean(0)) @ matrix

    return [
        lambda x, c, w: (x - x.mean(0)) @ w(c(x)).detach(),
        lambda x, c, w: (x - x.mean(0)) @ w(c(x.detach())),
        lambda x, c, w: (x - x.mean(0, keepdim=True)).mm(w(c(x)).data),
        lambda x, c, w: torch.einsum("nc,cd->nd", x - x.mean(0), w(c(x)).detach()),
        lambda x, c, w: x @ w(c(x)).detach() - x.mean(0) @ w(c(x)).detach(),
        lambda x, c, w: F.linear(x - x.mean(0), w(c(x)).detach().T),
        lambda x, c, w: (x.double() - x.double().mean(0)) @ w(c(x.double())).detach(),
        lambda x, c, w: (x - x.mean(0)).float() @ torch.tensor(w(c(x)).tolist()),
        rows_first,
        without_gradient,
    ]


def sgw_by_split(x, num_groups, permutation, whiten):
    parts = x[:, permutation].split(x.shape[1] // num_groups, dim=1)
    return torch.cat([whiten(part) for part in parts], dim=1)[:, permutation.argsort()]


def SGW():
    """Gradients must go through, so these are spelled by hand."""

    def by_places(x, num_groups, permutation, whiten):
        found = torch.empty(x.shape, dtype=torch.float64)
        for channels in permutation.chunk(num_groups):
            found[:, channels] = whiten(x[:, channels]).double()
        return found

    def column_by_column(x, num_groups, permutation, whiten):
        columns = {}
        for channels in permutation.reshape(num_groups, -1).tolist():
            columns |= dict(zip(channels, whiten(x[:, channels]).T, strict=True))
        return torch.stack([columns[channel] for channel in range(x.shape[1])], dim=1)

    def by_slices(x, num_groups, permutation, whiten):
        width = x.shape[1] // num_groups
        done = [whiten(x[:, permutation][:, at * width : (at + 1) * width]) for at in range(num_groups)]
        back = torch.empty_like(permutation)
        back[permutation] = torch.arange(len(permutation))
        return torch.hstack(done)[:, back]

    def by_matrix(x, num_groups, permutation, whiten):
        shuffle = torch.eye(x.shape[1], dtype=x.dtype)[:, permutation]
        return torch.cat([whiten(part) for part in (x @ shuffle).chunk(num_groups, 1)], 1).to(x) @ shuffle.T

    def whitened_by_cselab(x, num_groups, permutation, whiten):
        return shuffled_group_whiten(x, num_groups, permutation, eps=0.0)

    return [
        sgw_by_split,
        by_places,
        column_by_column,
        by_slices,
        by_matrix,
        whitened_by_cselab,
        lambda x, k, p, whiten: torch.cat([whiten(g) for g in x[:, p].chunk(k, 1)], 1)[:, torch.sort(p).indices],
        lambda x, k, p, whiten: torch.cat(list(map(whiten, x[:, p].chunk(k, 1))), 1).index_select(1, p.argsort()),
        lambda x, k, p, whiten: sgw_by_split(x.double(), k, p, whiten).float(),
    ]


def MULTI_POSITIVE():
    """Gradients must go through, so these are spelled by hand."""

    def info(a, p, t):
        return F.cross_entropy(unit(a) @ unit(p).T / t, labels(a))

    def rows(a, p, t):
        return (s := unit(a) @ unit(p).T / t).logsumexp(1) - s.diagonal()

    def by_loops(anchor, positives, t=0.05):
        total = 0.0
        for positive in positives:
            for i, row in enumerate(anchor):
                scores = torch.stack([F.cosine_similarity(row, other, dim=0) for other in positive]) / t
                total = total + (scores.logsumexp(0) - scores[i]) / len(anchor)
        return total

    def at_once(anchor, positives, t=0.05):
        s = torch.einsum("nd,pmd->pnm", unit(anchor), F.normalize(torch.stack(list(positives)), dim=2)) / t
        return (s.logsumexp(2) - s.diagonal(dim1=1, dim2=2)).sum(0).mean()

    return [
        lambda a, ps, t=0.05: sum(info(a, p, t) for p in ps),
        lambda a, ps, t=0.05: torch.stack([info(a, p, t) for p in ps]).sum(),
        lambda a, ps, t=0.05: len(ps) * torch.stack([info(a, p, t) for p in ps]).mean(),
        lambda a, ps, t=0.05: sum(rows(a, p, t) for p in ps).mean(),
        lambda a, ps, t=0.05: sum(info(a.double(), p.double(), t) for p in ps),
        lambda a, ps, t=0.05: sum(info_nce(a, p, t).total for p in ps),
        lambda a, ps, t=0.05: multi_positive_info_nce(a, list(ps), t).total,
        lambda a, ps, t=0.05: sum(
            -F.log_softmax(F.cosine_similarity(a[:, None], p[None], dim=2) / t, 1).trace() for p in ps
        ) / len(a),
        by_loops,
        at_once,
    ]  # fmt: skip


def PASSES():
    """What is asked of an encoder and of a whitening cannot be written as numbers, so these are spelled by hand."""

    def in_turn(encode, whiten, batch, passes, count=3):
        tables = [encode(batch)[0] for _ in range(passes)]
        return [whiten(tables[at if passes > 1 else 0]) for at in range(count)]

    def by_cases(encode, whiten, batch, passes, count=3):
        if passes == 1:
            (table,) = encode(batch)
            return [whiten(table) for _ in range(count)]
        return [whiten(table) for table in encode(*[batch] * count)]

    def collected(encode, whiten, batch, passes, count=3):
        views, tables = [], encode(*(batch for _ in range(passes)))
        while len(views) < count:
            views.append(whiten(tables[len(views) % passes]))
        return views

    def zipped(encode, whiten, batch, passes, count=3):
        return [whiten(table) for table, _ in zip(cycle(encode(*[batch] * passes)), range(count), strict=False)]

    def repeated(encode, whiten, batch, passes, count=3):
        return tuple(map(whiten, encode(*[batch] * passes) * (count // passes)))

    def stacked(encode, whiten, batch, passes, count=3):
        return torch.stack(in_turn(encode, whiten, batch, passes, count))

    def cut(encode, whiten, batch, passes, count=3):
        return list(stacked(encode, whiten, batch, passes, count).unbind())

    def by_array(encode, whiten, batch, passes, count=3):
        return [view.double() for view in repeated(encode, whiten, batch, passes, count)]

    return [in_turn, by_cases, collected, zipped, repeated, stacked, cut, by_array]


def distance_by_loop(views):
    rows, found = [normed(view.double().numpy()) for view in views], []
    for at, one in enumerate(rows):
        for other in rows[:at]:
            found += [sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) for a, b in zip(one, other, strict=True)]
    return np.mean(found)


UNSEEN_CHANGE = [
    lambda x: x + 100,
    lambda x: x + torch.linspace(50, 100, x.shape[1]),
    lambda x: 0.5 * x + 50,
    lambda x: 1000 - 3 * x,
]


def interval_by_loop(ones, others, t=2.776):
    gaps = [float(a) - float(b) for a, b in zip(ones, others, strict=True)]
    mean = sum(gaps) / len(gaps)
    error = (sum((gap - mean) ** 2 for gap in gaps) / (len(gaps) - 1) / len(gaps)) ** 0.5
    return mean - t * error, mean + t * error


# ---- 05 ---------------------------------------------------------------------------------------------------


def cosines(x, y):
    return unit(x) @ unit(y).T


def radius_by_loop(passes, clean):
    rows, centre = normed(passes.numpy().astype(float)), clean.numpy() / np.linalg.norm(clean)
    return np.sqrt(np.mean([np.linalg.norm(row - centre) ** 2 for row in rows]))


CLOUD_RADIUS = [lambda p, c: (unit(p) - F.normalize(c, dim=0)).square().sum(1).mean().sqrt(), radius_by_loop]


def contrast_by_mask(a, p, x, y, t=0.05):
    s = F.cosine_similarity(a, p) / t
    others = (cosines(x, y) / t).masked_fill(own(x), -torch.inf)
    return (torch.cat([s[:, None], others], dim=1).logsumexp(1) - s).mean()


def contrast_by_loop(a, p, x, y, t=0.05):
    a, p, x, y = (normed(side.numpy().astype(float)) for side in (a, p, x, y))
    total = 0.0
    for i in range(len(a)):
        others = [x[i] @ y[j] / t for j in range(len(x)) if j != i]
        total += np.logaddexp(0, np.logaddexp.reduce(others) - a[i] @ p[i] / t)
    return total / len(a)


TWO_PAIRS = [contrast_by_mask, contrast_by_loop, lambda a, p, x, y, t=0.05: decoupled_info_nce((a, p), (x, y), t).total]


def GAUSSIAN():
    """Spelled by hand."""

    def by_loop(views, variance, generator):
        found = []
        for view in views:
            found.append(view + variance**0.5 * torch.randn(view.shape, generator=generator))
        return found

    def by_numpy(views, variance, generator):
        seed = int(torch.randint(2**31, (1,), generator=generator))
        drawn = np.random.default_rng(seed).normal(0, np.sqrt(variance), (len(views), *views[0].shape))
        return [view + torch.from_numpy(one) for view, one in zip(views, drawn, strict=True)]

    def stacked(views, variance, generator):
        both = torch.stack(list(views))
        return both + np.sqrt(variance) * torch.randn(both.shape, generator=generator)

    def in_place(views, variance, generator):
        return [
            view.clone().add_(torch.empty(view.shape).normal_(0, variance**0.5, generator=generator)) for view in views
        ]

    return [
        by_loop,
        by_numpy,
        stacked,
        in_place,
        lambda views, v, g: tuple(by_loop(views, v, g)),
        lambda views, v, g: list(stacked(views, v, g).unbind()),
        lambda views, v, g: [z + torch.normal(0.0, v**0.5, z.shape, generator=g) for z in views],
        lambda views, v, g: [z + (v * torch.randn(z.shape, generator=g).square()).sqrt() * sign(z, g) for z in views],
        lambda views, v, g: [z.double() + torch.randn(z.shape, generator=g).double() * v**0.5 for z in views],
        lambda views, v, g: [z.numpy() + v**0.5 * torch.randn(z.shape, generator=g).numpy() for z in views],
        lambda views, v, g: [one.tolist() for one in by_loop(views, v, g)],
    ]


def sign(z, generator):
    return torch.randint(2, z.shape, generator=generator) * 2 - 1


def MEANS_OF_PASSES():
    """Spelled by hand."""

    def by_loop(passes):
        sums = [0, 0]
        for at, one in enumerate(passes):
            sums[at % 2] = sums[at % 2] + one
        return [total / (len(passes) // 2) for total in sums]

    def sliced(passes):
        k = len(passes) // 2
        return sum(passes[::2]) / k, sum(passes[1::2]) / k

    def stacked(passes):
        return torch.stack(list(passes)).unflatten(0, (-1, 2)).mean(0)

    return [
        by_loop,
        sliced,
        stacked,
        lambda passes: [torch.stack(list(passes[half::2])).mean(0) for half in (0, 1)],
        lambda passes: (torch.stack(passes[::2]).mean(dim=0), torch.stack(passes[1::2]).mean(dim=0)),
        lambda passes: list(stacked(passes).unbind()),
        lambda passes: torch.einsum("khnd->hnd", torch.stack(list(passes)).unflatten(0, (-1, 2))) / (len(passes) // 2),
        lambda passes: tuple(one.double() for one in sliced(passes)),
        lambda passes: [np.mean([one.numpy() for one in passes[half::2]], axis=0) for half in (0, 1)],
        lambda passes: [one.tolist() for one in by_loop(passes)],
    ]


def PULL_AND_PUSH():
    """Gradients are asked of a graph, so these are spelled by hand."""

    def still(views):
        return [view.detach() for view in views]

    def asked(contrast, views, others, weights, way=torch.autograd.grad):
        pull = way(contrast(*views, *still(others)), weights, retain_graph=True)
        return pull, way(contrast(*still(views), *others), weights, retain_graph=True)

    def by_backward(loss, weights, retain_graph):
        for weight in weights:
            weight.grad = None
        loss.backward(retain_graph=retain_graph)
        return [weight.grad.clone() for weight in weights]

    def by_difference(contrast, views, others, weights):
        pull, _ = asked(contrast, views, others, weights)
        whole = torch.autograd.grad(contrast(*views, *others), weights, retain_graph=True)
        return pull, [both - one for both, one in zip(whole, pull, strict=True)]

    def each(change):
        return lambda *given: tuple([change(gradient) for gradient in found] for found in asked(*given))

    return [
        asked,
        lambda *given: asked(*given, way=by_backward),
        lambda *given: list(asked(*given)),
        each(torch.Tensor.numpy),
        each(torch.Tensor.tolist),
        each(torch.Tensor.double),
        each(torch.clone),
        each(lambda gradient: torch.einsum("ij->ij", gradient)),
        each(lambda gradient: gradient.round(decimals=3)),
        by_difference,
    ]


def off_dropout_by_mask(a, p, c, t=0.05, m=1.0):
    s = F.cosine_similarity(a, p) / t
    others = (cosines(c, c) / t + torch.tensor(m).log()).masked_fill(own(c), -torch.inf)
    return (torch.cat([s[:, None], others], dim=1).logsumexp(1) - s).mean()


def off_dropout_by_loop(a, p, c, t=0.05, m=1.0):
    a, p, c = (normed(side.numpy().astype(float)) for side in (a, p, c))
    total = 0.0
    for i in range(len(c)):
        others = [c[i] @ c[j] / t for j in range(len(c)) if j != i]
        total += np.logaddexp(0, np.log(m) + np.logaddexp.reduce(others) - a[i] @ p[i] / t)
    return total / len(c)


OFF_DROPOUT = [
    off_dropout_by_mask,
    off_dropout_by_loop,
    lambda a, p, c, t=0.05, m=1.0: off_dropout_info_nce(a, p, c, t, m).total,
]


def fewest(first, second):
    return next(k for k in range(1, 61) if radius(first, k) <= distance(first, second) / 2)


# ---- 06 ---------------------------------------------------------------------------------------------------


def correlation_by_loop(first, second):
    a, b = (view.double().numpy().T for view in (first, second))
    return [[float(x @ y) / np.linalg.norm(x) / np.linalg.norm(y) for y in b] for x in a]


CORRELATION = [lambda a, b: F.normalize(a, dim=0).T @ F.normalize(b, dim=0), correlation_by_loop]


def twins_by_loop(c, weight=0.012):
    size = range(len(c))
    return sum(float((1 - c[i, j]) ** 2 if i == j else weight * c[i, j] ** 2) for i in size for j in size)


BARLOW_TWINS = [
    lambda c, weight=0.012: (
        (1 - c.diagonal()).square().sum() + weight * (c.square().sum() - c.diagonal().square().sum())
    ),
    twins_by_loop,
]


def floor_by_trying(dimensions, rank, weight):
    t, r = np.linspace(0, 1, 20_001), min(rank, dimensions)
    return (dimensions * ((1 - t) ** 2 + weight * (dimensions / r - 1) * t**2)).min()


FLOOR = [
    lambda d, r, w: (lambda k: d * k / (1 + k))(w * max(d - r, 0) / r),
    lambda d, r, w: barlow_twins_floor(d, r, w),
    floor_by_trying,
]


def descent_by_backward(loss, first, second, steps, rate):
    views, losses = [v.clone().requires_grad_() for v in (first, second)], []
    for _ in range(steps):
        for view in views:
            view.grad = None
        losses.append(loss(*views))
        losses[-1].backward()
        with torch.no_grad():
            for view in views:
                view -= rate * view.grad
    return [value.item() for value in losses]


def descent_by_torch(loss, first, second, steps, rate):
    views, losses = [v.clone().requires_grad_() for v in (first, second)], []
    optimizer = torch.optim.SGD(views, lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        losses.append(loss(*views))
        losses[-1].backward()
        optimizer.step()
    return torch.stack(losses).detach()


def descent_by_func(loss, first, second, steps, rate):
    losses = []
    for _ in range(steps):
        gradients, value = torch.func.grad_and_value(loss, argnums=(0, 1))(first, second)
        first, second = first - rate * gradients[0], second - rate * gradients[1]
        losses.append(value)
    return losses


def ROWS():
    """Spelled by hand."""

    def drawn(view, count, generator):
        return torch.randn(count, view.shape[1], generator=generator)

    def both(first, second, rows):
        return torch.cat([first, rows]), torch.cat([second, rows])

    def stacked(first, second, count, generator):
        rows = drawn(first, count, generator)
        return torch.cat([torch.stack([first, second]), rows.expand(2, -1, -1)], dim=1)

    def one_by_one(first, second, count, generator):
        rows = [torch.randn(1, first.shape[1], generator=generator) for _ in range(count)]
        return both(first, second, torch.cat(rows))

    def by_numpy(first, second, count, generator):
        seed = int(torch.randint(2**31, (1,), generator=generator))
        return both(first, second, torch.from_numpy(np.random.default_rng(seed).normal(size=(count, first.shape[1]))))

    return [
        lambda a, b, m, g: both(a, b, drawn(a, m, g)),
        lambda a, b, m, g: [torch.vstack([v, rows]) for rows in [drawn(a, m, g)] for v in (a, b)],
        lambda a, b, m, g: both(a, b, torch.normal(0.0, 1.0, (m, a.shape[1]), generator=g)),
        lambda a, b, m, g: both(a, b, torch.empty(m, a.shape[1]).normal_(generator=g)),
        lambda a, b, m, g: stacked(a, b, m, g),
        lambda a, b, m, g: list(stacked(a, b, m, g).unbind()),
        one_by_one,
        by_numpy,
        lambda a, b, m, g: [np.concatenate([v.numpy(), rows]) for rows in [drawn(a, m, g).numpy()] for v in (a, b)],
        lambda a, b, m, g: [one.tolist() for one in both(a, b, drawn(a, m, g))],
    ]


def shares(v, power=1):
    s = torch.linalg.svdvals(v - v.mean(0)) ** power
    s = s[s > 1e-6 * s.max()]
    return s / s.sum()


def rank_by_gram_matrix(v):
    v = (v - v.mean(0)).double()
    p = torch.linalg.eigvalsh(torch.einsum("id,jd->ij", v, v)).clamp(min=0).sqrt()
    p = p / p.sum()
    return float(torch.exp(-torch.special.xlogy(p, p).sum()))


def standard(v, correction=0):
    return (v - v.mean(0)) / (v.var(0, correction=correction) + 1e-5).sqrt()


def contrast_by_correlation(a, p, t=5.0):
    d = a.shape[1]
    with np.errstate(invalid="ignore"):  # of a dimension that never changes
        s = np.nan_to_num(np.corrcoef(a.T, p.T)[:d, d:]) / t
    return np.mean([np.logaddexp.reduce(row) - row[c] for c, row in enumerate(s)])


def contrast_by_batch_norm(a, p, t=5.0):
    a, p = (F.batch_norm(side, None, None, training=True, eps=1e-9) for side in (a, p))
    return F.cross_entropy(torch.einsum("nc,nd->cd", a, p) / len(a) / t, labels(a.T))


DIMENSION_CONTRAST = [
    lambda a, p, t=5.0: F.cross_entropy(standard(a).T @ standard(p) / len(a) / t, labels(a.T)),
    contrast_by_correlation,
    contrast_by_batch_norm,
    lambda a, p, t=5.0: dimension_contrastive(a, p, t).total,
]


def smallest():
    return next(size for size in range(330, 1, -1) if rank(batch(size - 1)) < rank(batch(SENTENCES)))


def FULL_RANK_BATCH():
    return list(of_a_number(smallest()).values())


# ---- 07 ---------------------------------------------------------------------------------------------------


def focal_logits(c, m):
    return (c * (c + m)).diagonal_scatter(c.diagonal().square())


def focal_by_loop(c, t=0.07, m=0.3):
    c, losses = c.double().numpy(), []
    for i in range(len(c)):
        logits = np.array([s * (s if j == i else s + m) / t for j, s in enumerate(c[i])])
        losses.append(np.logaddexp.reduce(logits) - logits[i])
    return np.mean(losses)


FOCAL = [
    lambda c, t=0.07, m=0.3: ((focal_logits(c, m) / t).logsumexp(1) - c.diagonal() ** 2 / t).mean(),
    lambda c, t=0.07, m=0.3: F.cross_entropy(c * (c + m * (1 - torch.eye(len(c)))) / t, labels(c)),
    focal_by_loop,
]


def focal_gradient(c, t=0.07, m=0.3):
    inner = (2 * c + m).diagonal_scatter(2 * c.diagonal())
    return inner * ((focal_logits(c, m) / t).softmax(1) - torch.eye(len(c))) / t


def focal_gradient_by_loops(c, t=0.07, m=0.3):
    p = (focal_logits(c, m) / t).softmax(1)
    return [
        [float(p[i, j] * (2 * c[i, j] + m) if i != j else (p[i, i] - 1) * 2 * c[i, i]) / t for j in range(len(c))]
        for i in range(len(c))
    ]


FOCAL_GRADIENT = [focal_gradient, focal_gradient_by_loops]


def own_by_where(c, t=0.07, m=0.3):
    return t / torch.where(own(c), c, c + m)


def own_by_loops(c, t=0.07, m=0.3):
    return [[t / (float(s) if i == j else float(s) + m) for j, s in enumerate(row)] for i, row in enumerate(c)]


TEMPERATURES = [own_by_where, own_by_loops]


def carried_by_loop(gradient):
    curves = []
    for i, row in enumerate(gradient.tolist()):
        push = sorted((max(g, 0) for j, g in enumerate(row) if j != i), reverse=True)
        curves.append(np.cumsum(push) / sum(push))
    return np.mean(curves, axis=0)


def carried_by_relu(gradient):
    push = F.relu(gradient.masked_fill(own(gradient), 0))
    return (push / push.sum(1, keepdim=True)).sort(dim=1, descending=True).values[:, :-1].mean(0).cumsum(0)


def loop_by_adamw(encode, loss, weights, batches, lr):
    optimizer, losses, norms = torch.optim.AdamW(weights, lr=lr, weight_decay=0), [], []
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1, 1e-9, total_iters=len(batches))
    for texts in batches:
        losses.append(loss(*encode(texts, texts)))
        optimizer.zero_grad()
        losses[-1].backward()
        norms.append(torch.nn.utils.clip_grad_norm_(weights, 1))
        optimizer.step()
        schedule.step()
    return torch.stack(losses).tolist(), torch.stack(norms).tolist()


def loop_by_adam(encode, loss, weights, batches, lr):
    optimizer, found = torch.optim.Adam(weights, lr=lr), []
    for left, texts in zip(range(len(batches), 0, -1), batches, strict=True):
        optimizer.param_groups[0]["lr"] = lr * left / len(batches)
        value = loss(*encode(texts, texts))
        for weight, gradient in zip(weights, torch.autograd.grad(value, weights), strict=True):
            weight.grad = gradient
        norm = sum(float(weight.grad.square().sum()) for weight in weights) ** 0.5
        for weight in weights:
            weight.grad /= max(1, norm)
        optimizer.step()
        found.append((value.item(), norm))
    return np.transpose(found)


TRAINING_07 = [loop_by_adamw, loop_by_adam]


def match_by_grid(share, wanted, low, high):
    grid = np.linspace(low, high, 40_001)
    return grid[np.argmin([abs(share(t) - wanted) for t in grid])]


def match_by_halving(share, wanted, low, high):
    for _ in range(30):
        middle = (low + high) / 2
        if share(middle) > wanted:
            low = middle
        else:
            high = middle
    return middle


def CONSTANT():
    """The gradient is asked of a graph, so these are spelled by hand."""

    def factors(c, m):
        return torch.where(own(c), c, c + m).detach()

    def without_gradient(c, t=0.07, m=0.3):
        with torch.no_grad():
            by = c + m - m * torch.eye(len(c))
        return F.cross_entropy(c * by / t, labels(c))

    return [
        without_gradient,
        lambda c, t=0.07, m=0.3: F.cross_entropy(c * factors(c, m) / t, labels(c)),
        lambda c, t=0.07, m=0.3: -(c * factors(c, m) / t).log_softmax(1).diagonal().mean(),
        lambda c, t=0.07, m=0.3: ((s := c * factors(c, m) / t).logsumexp(1) - s.diagonal()).mean(),
        lambda c, t=0.07, m=0.3: -(c * factors(c, m) / t).softmax(1).diagonal().log().mean(),
        lambda c, t=0.07, m=0.3: F.cross_entropy(c * c.data.add(m).diagonal_scatter(c.data.diagonal()) / t, labels(c)),
        lambda c, t=0.07, m=0.3: F.nll_loss((c * factors(c, m) / t).log_softmax(1), labels(c)),
        lambda c, t=0.07, m=0.3: torch.stack(
            [(row / t).logsumexp(0) - row[i] / t for i, row in enumerate(c * factors(c, m))]
        ).mean(),
    ]


# ---- 08 ---------------------------------------------------------------------------------------------------


def alignment_by_loop(x, y, grades, threshold=4):
    found = []
    for one, other, grade in zip(x.tolist(), y.tolist(), grades.tolist(), strict=True):
        if grade > threshold:
            a, b = (sum(z * z for z in side) ** 0.5 for side in (one, other))
            found.append(sum((p / a - q / b) ** 2 for p, q in zip(one, other, strict=True)))
    return sum(found) / len(found)


ALIGNMENT = [
    lambda x, y, g, t=4: (unit(x) - unit(y))[g > t].square().sum(dim=1).mean(),
    lambda x, y, g, t=4: (2 - 2 * F.cosine_similarity(x, y)[g > t]).mean(),
    alignment_by_loop,
]


def drawn(seed, width=256):
    return np.random.default_rng(seed).standard_normal(width)


def signs_of_a_hash(sentences):
    digests = [hashlib.shake_256(text.encode()).digest(64) for text in sentences]
    return np.unpackbits(np.array([list(digest) for digest in digests], dtype=np.uint8), axis=1) * 2.0 - 1.0


def with_column(rows, value):
    return np.hstack([rows, np.full((len(rows), 1), value)])


def by_its_cosines(rows):
    values, axes = np.linalg.eigh(0.98 + 0.02 * normed(rows) @ normed(rows).T)
    return axes * np.sqrt(values.clip(0)) * 100


def column_by_column(rows):
    out = np.zeros((len(rows), rows.shape[1] + 1))
    for i, row in enumerate(rows):
        out[i, :-1] = row / np.sqrt((row**2).sum())
        out[i, -1] = 20
    return out * 100


CONE = [
    lambda rows: with_column(normed(rows), 10.0),
    column_by_column,
    by_its_cosines,
    lambda rows: with_column(with_column(normed(rows), 8.0), -8.0),
]

# ---- 09 ---------------------------------------------------------------------------------------------------


def near(far, k):
    return np.argsort(far + np.diag(np.full(len(far), np.inf)), axis=1)[:, :k]


def apart(rows):
    return np.linalg.norm(rows[:, None] - rows[None], axis=2)


def alike(rows):
    return normed(rows) @ normed(rows).T


def hits(one, other):
    return np.array([len(set(a) & set(b)) for a, b in zip(one.tolist(), other.tolist(), strict=True)])


def preservation_by_loops(vectors, points, k=10):
    kept = 0
    for i in range(len(vectors)):
        others = [j for j in range(len(vectors)) if j != i]
        full = sorted(others, key=lambda j: -alike(vectors)[i, j])[:k]
        flat = sorted(others, key=lambda j: apart(points)[i, j])[:k]
        kept += len(set(full) & set(flat))
    return kept / k / len(vectors)


PRESERVATION = [lambda v, p, k=10: hits(near(-alike(v), k), near(apart(p), k)).mean() / k, preservation_by_loops]
ISLANDS_IN_NOISE = [
    *of_a_dictionary(dict(perplexity=2, init="random", max_iter=500)).values(),
    dict(perplexity=2),
    {"perplexity": 3},
    dict(perplexity=np.float32(2), max_iter=1000),
]


# ---- 10 ---------------------------------------------------------------------------------------------------


def spearman_by_counting(x, y):
    def ranks(v):
        return np.array([sum(w < value for w in v) + (sum(w == value for w in v) + 1) / 2 for value in v])

    return np.corrcoef(ranks(x), ranks(y))[0, 1]


SPEARMAN = [lambda x, y: spearmanr(x, y).statistic, spearman_by_counting]


def correlations(predicted, gold):
    """Spearman's correlation of each row."""
    a, b = (side - side.mean(1, keepdims=True) for side in (rankdata(predicted, axis=1), rankdata(gold, axis=1)))
    return (a * b).sum(1) / np.sqrt((a**2).sum(1) * (b**2).sum(1))


def gains(first, second, gold, resamples, seed, stream="choice"):
    generator, n = np.random.default_rng(seed), len(gold)
    if stream == "choice":
        rows = np.array([generator.choice(n, n) for _ in range(resamples)])
    else:  # another way to draw, which gives other rows
        rows = (generator.random((resamples, n)) * n).astype(int)
    return 100 * (correlations(second[rows], gold[rows]) - correlations(first[rows], gold[rows]))


def interval_by_sorting(first, second, gold, resamples=1000, seed=0):
    ordered = np.sort(gains(first, second, gold, resamples, seed, "floats"))
    cut = round(0.025 * resamples)
    return float(ordered[cut]), float(ordered[-1 - cut])


def interval_by_deviation(first, second, gold, resamples=1000, seed=0):
    found = gains(first, second, gold, resamples, seed)
    return found.mean() + 1.96 * np.array([-1, 1]) * found.std()


PAIRED_BOOTSTRAP = [
    lambda f, s, g, resamples=1000, seed=0: np.percentile(gains(f, s, g, resamples, seed), [2.5, 97.5]),
    interval_by_sorting,
    interval_by_deviation,
    lambda f, s, g, resamples=1000, seed=0: paired_bootstrap(f, s, g, resamples=resamples, seed=seed).interval,
]
SEEDS_NEEDED = list(of_a_number(7).values())

# ---- 11 ---------------------------------------------------------------------------------------------------

STAGES = dict(bt_bert="data", sr_bert="view", consert="view", dcpcse="encoder", mixcse="loss", focal="loss")
METHOD_STAGES = [
    *of_a_dictionary(STAGES).values(),
    {name: np.str_(stage) for name, stage in STAGES.items()},
    {name: stage.title() for name, stage in STAGES.items()},
]
SAID = {"columns": ("sentence", "negation"), "texts": 24, "candidates": 9}


class OneWay(MixCSE, SNCSEDropout):
    """The mixed negatives come after the denials."""


class OtherWay(SNCSEDropout, MixCSE):
    """The denials come after the mixed negatives."""


class ByHand(SNCSEDropout):
    """The same written out."""

    def views(self, encode, batch):
        v, mix = super().views(encode, batch), MixCSE()
        own = v.anchor.new_full((len(v.anchor),) * 2, float("-inf")).fill_diagonal_(0)
        return v.against(mix.mixed(v.positive), own)


COMPOSED_METHOD = [
    (OneWay, SAID),
    (OtherWay, SAID),
    (ByHand, SAID),
    [OneWay, SAID],
    (OneWay, dict(reversed(SAID.items()))),
    (OneWay, SAID | {"columns": ["sentence", "negation"]}),
    (OneWay, SAID | {"columns": np.array(["sentence", "negation"])}),
    (OneWay, {name: np.int64(said) if isinstance(said, int) else said for name, said in SAID.items()}),
    (OneWay, SAID | {"texts": 24.0}),
]

# ---- 12 ---------------------------------------------------------------------------------------------------


def log_weights(c, beta, dim=1, others=True, n=None, keep=0.0, sign=1):
    logits = sign * beta * c.detach()
    rivals = logits.masked_fill(own(c), -torch.inf) if others else logits
    found = logits - rivals.logsumexp(dim, keepdim=True) + np.log(n or len(c) - 1)
    return found if keep is None else found.masked_fill(own(c), keep)


def weights_by_loop(c, beta):
    rows = []
    for i, row in enumerate(c.tolist()):
        largest = max(beta * x for j, x in enumerate(row) if j != i)
        mean = sum(np.exp(beta * x - largest) for j, x in enumerate(row) if j != i) / (len(row) - 1)
        rows.append([0.0 if j == i else beta * x - largest - np.log(mean) for j, x in enumerate(row)])
    return rows


LOG_WEIGHTS = [log_weights, weights_by_loop]


class Returning:
    """An encoder that gives its vectors in another type."""

    def __init__(self, encoder, how, seen):
        self.encoder, self.how, self.seen = encoder, how, seen

    def encode(self, sentences, **options):
        missing = [text for text in dict.fromkeys(sentences) if text not in self.seen]
        if missing:
            self.seen |= dict(zip(missing, np.asarray(self.encoder.encode(missing)), strict=True))
        return self.how(np.stack([self.seen[text] for text in sentences]))


def BEAT_CONTROL():
    from cselab.world import World

    sentences = [sentence.text for sentence in World(0).sentences(500, split="train")]
    start = SentenceEncoder.from_pretrained("mini", pooling="emb_last_mean")
    best = TransformedEncoder(start, fit("without 1", start.encode(sentences)))
    seen = {}
    return [best, *(Returning(best, how, seen) for how in RETURNED.values())]


# ---- 13 ---------------------------------------------------------------------------------------------------


def last_by_loop(layer, mask):
    return [row[[t for t, real in enumerate(own) if real][-1]].tolist() for row, own in zip(layer, mask, strict=True)]


def last_by_flip(layer, mask):
    return layer[torch.arange(len(layer)), mask.shape[1] - 1 - mask.flip(1).argmax(1)]


LAST_TOKEN = [last_by_flip, last_by_loop, last_token]


def cut_by_loop(first, second, k):
    pairs = zip(first.double().numpy(), second.double().numpy(), strict=True)
    return [float(a[:k] @ b[:k] / np.linalg.norm(a[:k]) / np.linalg.norm(b[:k])) for a, b in pairs]


# ---- all --------------------------------------------------------------------------------------------------


OTHERWISE = {"focal_infonce.TRAINING": "TRAINING_07"}  # where two lessons have an exercise of one name


def right_answers(name):
    """Every spelling of the right answers of an exercise: a function returns them in all types, values are spelled."""
    written = globals()[OTHERWISE.get(name, name.partition(".")[2])]
    if callable(written):  # an encoder must be asked for them
        return written()
    return [*written, *of_a_function(written[0]).values()] if isfunction(written[0]) else written
