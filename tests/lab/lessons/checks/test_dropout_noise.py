"""Lesson 05: what is said of wrong answers."""

import torch
import torch.nn.functional as F
from cselab_lab.lessons.checks import dropout_noise
from cselab_lab.lessons.exercises import diagnose
from right_answers import contrast_by_mask, cosines, off_dropout_by_mask, own, unit
from spellings import wrong_answers


def plain(s, n, m=1.0):
    """Written out, with what may be exchanged: cosines already divided."""
    return -(s.exp() / (s.exp() + m * n.exp().masked_fill(own(n), 0).sum(1))).log()


def diagonal(x, y):
    return cosines(x, y).diagonal()


def columns(x, y):
    return F.normalize(x, dim=0) @ F.normalize(y, dim=0).T


def gaps(p, c):
    return (unit(p) - c / c.norm()).square().sum(1)


def normal(z, g):
    return torch.randn(z.shape, generator=g)


def written_into(views, variance, generator):
    for z in views:
        with torch.no_grad():
            z += variance**0.5 * normal(z, generator)
    return views


def written_over(a, p, x, y, t=0.05):
    for z in (a, p, x, y):
        z /= z.norm(dim=1, keepdim=True)
    return contrast_by_mask(a, p, x, y, t)


def by_backward(contrast, views, others, weights):
    contrast(*views, *(z.detach() for z in others)).backward(retain_graph=True)
    pull = [weight.grad.clone() for weight in weights]
    contrast(*(z.detach() for z in views), *others).backward(retain_graph=True)
    return pull, [weight.grad.clone() for weight in weights]


def asked(contrast, views, others, weights, hold_others=True, hold_views=True):
    def grad(views, others):
        return torch.autograd.grad(contrast(*views, *others), weights, retain_graph=True)

    pull = grad(views, [z.detach() for z in others] if hold_others else others)
    return pull, grad([z.detach() for z in views] if hold_views else views, others)


WRONG = {
    "CLOUD_RADIUS": [
        ("Scale each row to length 1 first", lambda p, c: (p - c / c.norm()).square().sum(1).mean().sqrt()),
        ("clean vector to length 1, too", lambda p, c: (unit(p) - c).square().sum(1).mean().sqrt()),
        ("Nothing is scaled", lambda p, c: (p - c).square().sum(1).mean().sqrt()),
        ("mean of the passes", lambda p, c: (unit(p) - unit(p).mean(0)).square().sum(1).mean().sqrt()),
        ("not the mean of the distances", lambda p, c: gaps(p, c).sqrt().mean()),
        ("its square", lambda p, c: gaps(p, c).mean()),
        ("farthest pass", lambda p, c: gaps(p, c).max().sqrt()),
        ("over the passes alone", lambda p, c: (unit(p) - c / c.norm()).square().mean().sqrt()),
        ("not the sum, before the root", lambda p, c: gaps(p, c).sum().sqrt()),
        ("One number is wanted", lambda p, c: gaps(p, c).sqrt()),
    ],
    "TWO_PAIRS": [
        ("wanted are left and right", lambda a, p, x, y, t=0.05: contrast_by_mask(a, p, a, p, t)),
        ("wanted are anchor and positive", lambda a, p, x, y, t=0.05: contrast_by_mask(x, y, x, y, t)),
        ("are exchanged", lambda a, p, x, y, t=0.05: contrast_by_mask(x, y, a, p, t)),
        ("the first of them is left", lambda a, p, x, y, t=0.05: contrast_by_mask(a, p, a, y, t)),
        ("the second of them is right", lambda a, p, x, y, t=0.05: contrast_by_mask(a, p, x, p, t)),
        ("Both sides of your negatives", lambda a, p, x, y, t=0.05: contrast_by_mask(a, p, x, x, t)),
        ("those of right", lambda a, p, x, y, t=0.05: contrast_by_mask(a, p, y, x, t)),
        (
            "does not count",
            lambda a, p, x, y, t=0.05: (
                torch.cat([(diagonal(a, p) / t)[:, None], cosines(x, y) / t], 1).logsumexp(1) - diagonal(a, p) / t
            ).mean(),
        ),
        ("temperature is not used", lambda a, p, x, y, t=0.05: contrast_by_mask(a, p, x, y, 1)),
        ("0.05 in your code", lambda a, p, x, y, t=0.05: contrast_by_mask(a, p, x, y)),
        ("length 1 first", lambda a, p, x, y, t=0.05: plain((a * p).sum(1) / t, x @ y.T / t).mean()),
        ("logsumexp", lambda a, p, x, y, t=0.05: plain(diagonal(a, p) / t, cosines(x, y) / t).mean()),
        ("Detach nothing", lambda a, p, x, y, t=0.05: contrast_by_mask(a, p, x.detach(), y, t)),
        ("Detach nothing", lambda a, p, x, y, t=0.05: contrast_by_mask(a, p, (x + x.detach()) / 2, y, t)),
        ("changes what it is given", written_over),
        ("of a positive is divided", lambda a, p, x, y, t=0.05: plain(diagonal(a, p), cosines(x, y) / t).mean()),
        ("of the negatives are divided", lambda a, p, x, y, t=0.05: plain(diagonal(a, p) / t, cosines(x, y)).mean()),
        ("One number is wanted", lambda a, p, x, y, t=0.05: plain(diagonal(a, p) / t, cosines(x, y) / t)),
    ],
    "GAUSSIAN": [
        (
            "It is not Gaussian either",
            lambda views, v, g: [z + v**0.5 * torch.rand(z.shape, generator=g) for z in views],
        ),
        ("how large the view is", lambda views, v, g: [z * (1 + v**0.5 * normal(z, g)) for z in views]),
        ("not by its square", lambda views, v, g: [z + v**2 * normal(z, g) for z in views]),
        ("returned one Tensor", lambda views, v, g: views[0] + v**0.5 * normal(views[0], g)),
        ("returned 1, of shape (3, 4)", lambda views, v, g: [views[0] + v**0.5 * normal(views[0], g)]),
        ("noise alone", lambda views, v, g: [v**0.5 * normal(z, g) for z in views]),
        ("were scaled to length 1", lambda views, v, g: [unit(z) + v**0.5 * normal(z, g) for z in views]),
        ("were scaled to length 1", lambda views, v, g: [unit(z + v**0.5 * normal(z, g)) for z in views]),
        ("root of the variance, the standard deviation", lambda views, v, g: [z + v * normal(z, g) for z in views]),
        ("variance 1: multiply by the root", lambda views, v, g: [z + normal(z, g) for z in views]),
        (
            "not Gaussian",
            lambda views, v, g: [z + (12 * v) ** 0.5 * (torch.rand(z.shape, generator=g) - 0.5) for z in views],
        ),
        ("leaves the mean", lambda views, v, g: [z + torch.rand(z.shape, generator=g) for z in views]),
        ("not multiplied with it", lambda views, v, g: [z + v**0.5 * normal(z, g) * (z.abs() + 1) for z in views]),
        ("the same in both views", lambda views, v, g: [z + n for n in [v**0.5 * normal(views[0], g)] for z in views]),
        ("have the same noise", lambda views, v, g: [z + v**0.5 * normal(z[:, :1], g) for z in views]),
        ("have the same noise", lambda views, v, g: [z + v**0.5 * normal(z[0], g) for z in views]),
        ("generator=generator", lambda views, v, g: [z + v**0.5 * torch.randn(z.shape) for z in views]),
        (
            "do not seed",
            lambda views, v, g: [
                z + v**0.5 * normal(z, torch.Generator().manual_seed(at)) for at, z in enumerate(views)
            ],
        ),
        ("writes into the view", written_into),
        ("`return` missing", lambda views, v, g: None),
    ],
    "MEANS_OF_PASSES": [
        ("of shape (3, 6), (3, 6)", lambda passes: [torch.stack(passes[at::2]).mean(1) for at in (0, 1)]),
        ("returned one Tensor", lambda passes: torch.stack(list(passes)).mean(0)),
        ("returned 1, of shape (4, 6)", lambda passes: [torch.stack(list(passes)).mean(0)]),
        ("passes 2, 4, 6: they take turns", lambda passes: [torch.stack(passes[at::2]).mean(0) for at in (1, 0)]),
        (
            "passes 1, 2, 3: they take turns",
            lambda passes: [torch.stack(half).mean(0) for half in (passes[:3], passes[3:])],
        ),
        ("mean of all passes", lambda passes: [torch.stack(list(passes)).mean(0)] * 2),
        ("not the sum", lambda passes: [sum(passes[0::2]), sum(passes[1::2])]),
        ("single passes", lambda passes: passes[:2]),
        ("3 passes are in both means", lambda passes: [torch.stack(list(passes[0::2])).mean(0)] * 2),
        ("have the shares", lambda passes: [torch.stack(list(passes[at : at + 4])).mean(0) for at in (0, 2)]),
        ("have the shares", lambda passes: [torch.stack(list(passes[at::2])).median(0).values for at in (0, 1)]),
        ("have the shares", lambda passes: [sum(passes[at:4:2]) / 3 for at in (0, 1)]),
        ("nothing is scaled", lambda passes: [sum(one) / 3 for one in (passes[0::2], passes[1::2])]),
    ],
    "PULL_AND_PUSH": [
        (
            "takes the views first",
            lambda loss, views, others, w: asked(lambda a, b, x, y: loss(x, y, a, b), views, others, w),
        ),
        ("are exchanged", lambda *given: asked(*given)[::-1]),
        ("Nothing is held still", lambda *given: asked(*given, hold_others=False, hold_views=False)),
        ("detach the views", lambda *given: asked(*given, hold_views=False)),
        ("detach the others", lambda *given: asked(*given, hold_others=False)),
        ("Both are the pull", lambda *given: [asked(*given)[0]] * 2),
        ("Both are the push", lambda *given: [asked(*given)[1]] * 2),
        ("add up in weight.grad", by_backward),
        ("sign", lambda *given: [[-g for g in kind] for kind in asked(*given)]),
        ("weight by weight", lambda *given: list(zip(*asked(*given), strict=True))),
        (
            "by the vectors",
            lambda c, v, o, w: [
                torch.autograd.grad(c(*v, *(z.detach() for z in o)), v),
                torch.autograd.grad(c(*(z.detach() for z in v), *o), o),
            ],
        ),
        ("Wanted are two", lambda *given: asked(*given)[0][:1]),
        ("Wanted are two", lambda *given: sum(g.sum() for g in asked(*given)[0])),
        (
            "retain_graph=True",
            lambda c, v, o, w: [
                torch.autograd.grad(c(*v, *(z.detach() for z in o)), w, retain_graph=True),
                torch.autograd.grad(c(*(z.detach() for z in v), *o), w),
            ],
        ),
        ("`return` missing", lambda *given: print(asked(*given))),
    ],
    "OFF_DROPOUT": [
        ("noisy, as in SimCSE", lambda a, p, c, t=0.05, m=1.0: plain(diagonal(a, p) / t, cosines(a, p) / t, m).mean()),
        (
            "One side of your negatives is noisy",
            lambda a, p, c, t=0.05, m=1.0: plain(diagonal(a, p) / t, cosines(a, c) / t, m).mean(),
        ),
        ("is the positive's", lambda a, p, c, t=0.05, m=1.0: plain(diagonal(a, p) / t, cosines(c, p) / t, m).mean()),
        ("always at cosine 1", lambda a, p, c, t=0.05, m=1.0: off_dropout_by_mask(c, c, c, t, m)),
        ("both keep their noise", lambda a, p, c, t=0.05, m=1.0: off_dropout_by_mask(a, c, c, t, m)),
        ("are exchanged", lambda a, p, c, t=0.05, m=1.0: plain(diagonal(c, c) / t, cosines(a, p) / t, m).mean()),
        (
            "leave the diagonal",
            lambda a, p, c, t=0.05, m=1.0: (
                (diagonal(a, p) / t).exp().add(m * (cosines(c, c) / t).exp().sum(1)).log() - diagonal(a, p) / t
            ).mean(),
        ),
        (
            "belongs into the sum",
            lambda a, p, c, t=0.05, m=1.0: (
                (m * (cosines(c, c) / t).exp().fill_diagonal_(0).sum(1)).log() - diagonal(a, p) / t
            ).mean(),
        ),
        ("do not multiply", lambda a, p, c, t=0.05, m=1.0: off_dropout_by_mask(a, p, c, 1 / t, m)),
        ("temperature is not used", lambda a, p, c, t=0.05, m=1.0: off_dropout_by_mask(a, p, c, 1, m)),
        ("0.05 in your code", lambda a, p, c, t=0.05, m=1.0: off_dropout_by_mask(a, p, c, 0.05, m)),
        ("m is not used", lambda a, p, c, t=0.05, m=1.0: off_dropout_by_mask(a, p, c, t)),
        ("the released code", lambda a, p, c, t=0.05, m=1.0: plain(m * diagonal(a, p) / t, cosines(c, c) / t).mean()),
        (
            "not the cosines within",
            lambda a, p, c, t=0.05, m=1.0: plain(diagonal(a, p) / t, m * cosines(c, c) / t).mean(),
        ),
        ("whole denominator", lambda a, p, c, t=0.05, m=1.0: off_dropout_by_mask(a, p, c, t) + torch.tensor(m).log()),
        ("length 1 first", lambda a, p, c, t=0.05, m=1.0: plain((a * p).sum(1) / t, c @ c.T / t, m).mean()),
        (
            "not each column",
            lambda a, p, c, t=0.05, m=1.0: plain(columns(a, p).diagonal() / t, columns(c, c) / t, m).mean(),
        ),
        ("not the sum", lambda a, p, c, t=0.05, m=1.0: off_dropout_by_mask(a, p, c, t, m) * len(a)),
        ("sign", lambda a, p, c, t=0.05, m=1.0: -off_dropout_by_mask(a, p, c, t, m)),
        (
            "log is missing",
            lambda a, p, c, t=0.05, m=1.0: (-plain(diagonal(a, p) / t, cosines(c, c) / t, m)).exp().mean(),
        ),
        (
            "log comes first",
            lambda a, p, c, t=0.05, m=1.0: -(-plain(diagonal(a, p) / t, cosines(c, c) / t, m)).exp().mean().log(),
        ),
        ("logsumexp", lambda a, p, c, t=0.05, m=1.0: plain(diagonal(a, p) / t, cosines(c, c) / t, m).mean()),
        ("Detach nothing", lambda a, p, c, t=0.05, m=1.0: off_dropout_by_mask(a, p, c.detach(), t, m)),
        ("One number is wanted", lambda a, p, c, t=0.05, m=1.0: plain(diagonal(a, p) / t, cosines(c, c) / t, m)),
    ],
}


def test_pull_and_push_add_up_to_the_whole_gradient():
    generator = torch.Generator().manual_seed(0)
    views = list(torch.randn(2, 6, 8, generator=generator, dtype=torch.float64).requires_grad_())
    others = [view + torch.randn(6, 8, generator=generator) for view in views]
    pull, push = dropout_noise.PULL_AND_PUSH.right(contrast_by_mask, views, others, views)
    whole = torch.autograd.grad(contrast_by_mask(*views, *others), views)
    torch.testing.assert_close([one + other for one, other in zip(pull, push, strict=True)], list(whole))


@wrong_answers(dropout_noise, WRONG)
def test_a_wrong_answer_is_named(exercise, said, answer):
    verdict = diagnose(answer, exercise)
    assert not verdict.solved and said in verdict.lines[-1], verdict
