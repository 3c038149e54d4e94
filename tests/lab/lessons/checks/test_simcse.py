"""Lesson 02: what is said of wrong answers."""

import torch
import torch.nn.functional as F
from cselab_lab.lessons.checks import simcse
from cselab_lab.lessons.exercises import diagnose
from right_answers import ADAM, LOSS, PADDED, POOLED
from spellings import wrong_answers


def wide(found, longest, pad):
    ids, mask = found
    missing = longest - ids.shape[1]
    return F.pad(ids, (0, missing), value=pad), F.pad(mask, (0, missing)).long()


def cos(a, b):
    return F.normalize(a) @ F.normalize(b).T


adam = ADAM[0]


def by_adamw(weight, gradient, m, v, step, lr):
    held = torch.nn.Parameter(weight.clone())
    held.grad = gradient.clone()
    optimizer = torch.optim.AdamW([held], lr=lr)
    state = {"step": torch.tensor(step - 1.0), "exp_avg": m.clone(), "exp_avg_sq": v.clone()}
    optimizer.state[held] = state
    optimizer.step()
    return held.detach(), state["exp_avg"], state["exp_avg_sq"]


def softmax(c, t):
    return (c / t).softmax(1)


def compared(rows, longest, pad=0):
    ids = PADDED[0](rows, longest, pad)[0]
    return ids, ids != pad


def cut_in_place(rows, longest, pad=0):
    for row in rows:
        del row[longest - 1 : -1]
    return PADDED[0](rows, longest, pad)


WRONG = {
    "PADDED": [
        ("it does not compare them", compared),
        ("changes what it is given", cut_in_place),
        ("not of one length", lambda rows, longest, pad=0: (rows, [[1] * len(row) for row in rows])),
        ("keep it when you cut", lambda rows, longest, pad=0: PADDED[0]([row[:longest] for row in rows], longest, pad)),
        ("First the ids", lambda *given: PADDED[0](*given)[::-1]),
        ("other way round", lambda *given: (PADDED[0](*given)[0], ~PADDED[0](*given)[1])),
        (
            "not to the most that is allowed",
            lambda rows, longest, pad=0: torch.stack(wide(PADDED[0](rows, longest, pad), longest, pad)),
        ),
    ],
    "POOLED": [
        ("yours keeps the padding", lambda layer, mask, kind: POOLED[0](layer, 1 - mask, kind)),
        ("of the sum and of the count", lambda layer, mask, kind: layer[:, 0] if kind == "cls" else layer.mean(1)),
        ("look at `kind`", lambda layer, mask, kind: POOLED[0](layer, mask, "mean")),
        ("is the first sentence", lambda layer, mask, kind: layer[0, :2]),
    ],
    "VIEWS": [
        ("returned 1, of shape (8, 32)", lambda n, ids, mask: [n(ids.repeat(2, 1), mask.repeat(2, 1))]),
        ("returned one Tensor", lambda n, ids, mask: n(ids, mask)),
        ("another sentence's view", lambda n, ids, mask: n(ids.repeat_interleave(2, 0), mask.repeat(2, 1)).chunk(2)),
        ("no second pass", lambda n, ids, mask: [n(ids, mask)] * 2),
        ("in training mode", lambda n, ids, mask: [n.eval()(ids, mask), n(ids, mask)]),
        ("no detach()", lambda n, ids, mask: (n(ids, mask).detach(), n(ids, mask))),
        ("the mask belongs to the ids", lambda n, ids, mask: n(ids.repeat(2, 1), torch.ones(2 * len(ids), 1)).chunk(2)),
        ("as they are", lambda n, ids, mask: [F.normalize(view) for view in simcse.views(n, ids, mask)]),
    ],
    "LOSS": [
        ("the cosine is wanted", lambda a, b, t=0.05: F.cross_entropy(a @ b.T / t, torch.arange(len(a)))),
        ("by itself", lambda a, b, t=0.05: F.cross_entropy((cos(a, b) / t).softmax(1), torch.arange(len(a)))),
        ("sign", lambda a, b, t=0.05: -LOSS[0](a, b, t)),
        ("not column 0", lambda a, b, t=0.05: F.cross_entropy(cos(a, b) / t, torch.zeros(len(a), dtype=int))),
        ("runs along a row", lambda a, b, t=0.05: LOSS[0](b, a, t)),
    ],
    "ADAM": [
        ("both start at 0", lambda w, g, m, v, step, lr: adam(w, g, m, v, 10**6, lr)),
        (
            "Against the gradient",
            lambda w, g, m, v, step, lr: (2 * w - adam(w, g, m, v, step, lr)[0], *adam(w, g, m, v, step, lr)[1:]),
        ),
        ("shape should be", lambda *given: adam(*given)[0]),
        ("weight decay in the gradient", lambda w, g, *past: adam(w, g + 0.01 * w, *past)),
        ("weight decay of AdamW", by_adamw),
    ],
}


@wrong_answers(simcse, WRONG)
def test_a_wrong_answer_is_named(exercise, said, answer):
    verdict = diagnose(answer, exercise)
    assert not verdict.solved and said in verdict.lines[-1], verdict


def test_two_views_may_be_one_tensor_and_two_calls_of_the_network_are_two_passes():
    def unbound(network, ids, mask):
        return torch.stack(simcse.views(network, ids, mask))

    assert diagnose(unbound, simcse.VIEWS).solved
    assert diagnose(lambda network, ids, mask: (network(ids, mask), network(ids, mask)), simcse.VIEWS).solved


def test_a_loss_whose_gradient_goes_through_one_view_alone_is_refused():
    for cut in (lambda a, b, t=0.05: LOSS[0](a, b.detach(), t), lambda a, b, t=0.05: LOSS[0](a.detach(), b, t)):
        verdict = diagnose(cut, simcse.LOSS)
        assert not verdict.solved and "gets no gradient" in verdict.lines[-1]


def test_adam_in_place_is_right_and_another_epsilon_is_not_called_misplaced():
    def in_place(weight, gradient, m, v, step, lr):
        new = ADAM[0](weight, gradient, m, v, step, lr)
        return tuple(old.copy_(one) for old, one in zip((weight, m, v), new, strict=True))

    def with_epsilon(weight, gradient, m, v, step, lr):
        m, v = m.lerp(gradient, 0.1), v.lerp(gradient.square(), 0.001)
        return weight - lr * m / (1 - 0.9**step) / ((v / (1 - 0.999**step)).sqrt() + 1e-3), m, v

    assert diagnose(in_place, simcse.ADAM).solved
    assert "under" not in diagnose(with_epsilon, simcse.ADAM).lines[-1]


def test_a_clean_view_beside_a_noisy_one_is_no_second_pass_through_dropout():
    clean_first = diagnose(lambda n, ids, mask: (n.eval()(ids, mask), n.train()(ids, mask)), simcse.VIEWS)
    assert "leave the network in training mode" in clean_first.lines[-1]
