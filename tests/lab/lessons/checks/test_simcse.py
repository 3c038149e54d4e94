"""Lesson 02: what is said of wrong answers."""

import torch
import torch.nn.functional as F
from cselab_lab.lessons.checks import simcse
from cselab_lab.lessons.exercises import diagnose
from right_answers import ADAM, LOSS, NUMBERS, PADDED, POOLED, ROLES, own, training_by_torch
from spellings import wrong_answers

from cselab.losses import info_nce
from cselab.metrics import cosine_gradients


def wide(found, longest, pad):
    ids, mask = found
    missing = longest - ids.shape[1]
    return F.pad(ids, (0, missing), value=pad), F.pad(mask, (0, missing)).long()


def cos(a, b):
    return F.normalize(a) @ F.normalize(b).T


adam = ADAM[0]


def trained(model, loss, adam, batches, lr, falls=True, forgets=True, clips=True, each=False):
    optimizer, losses = torch.optim.Adam(model.parameters(), lr=lr), []
    for step, batch in enumerate(batches):
        optimizer.param_groups[0]["lr"] = lr * (1 - falls * step / len(batches))
        if forgets:
            optimizer.zero_grad()
        losses.append(loss(*model(batch)))
        losses[-1].backward()
        if clips:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1)
        for weight in model.parameters() if each else ():
            torch.nn.utils.clip_grad_norm_(weight, 1)
        optimizer.step()
    return [found.item() for found in losses]


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


EASY = [
    "A man plays the guitar.",
    "The woman is asleep.",
    "It rains in the hills.",
    "Parliament rejected the tax.",
    "The dog barks loudly.",
    "Nobody reads the letter.",
    "A cook peels onions.",
    "The train is late.",
]


def compared(rows, longest, pad=0):
    ids = PADDED[0](rows, longest, pad)[0]
    return ids, ids != pad


def cut_in_place(rows, longest, pad=0):
    for row in rows:
        del row[longest - 1 : -1]
    return PADDED[0](rows, longest, pad)


def losses_with_graphs(model, loss, adam, batches, lr):
    found = []
    training_by_torch(model, lambda *views: found.append(loss(*views)) or found[-1], adam, batches, lr)
    return found


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
    "TRAINING": [
        ("training mode", lambda model, *given: training_by_torch(model.eval(), *given)),
        ("append(found.item())", losses_with_graphs),
        (
            "The rate falls: lr times",
            lambda model, loss, adam, batches, lr: trained(model, loss, adam, batches, lr, falls=False),
        ),
        ("forget those of the last step", lambda *given: trained(*given, forgets=False)),
        ("at most 1", lambda *given: trained(*given, clips=False)),
        ("is `return` missing?", lambda *given: print(trained(*given))),
        ("not one for each", lambda *given: trained(*given, clips=False, each=True)),
    ],
    "GRADIENT": [
        ("inner derivative", lambda c, t=0.05: softmax(c, t) - own(c).float()),
        ("Outside the softmax divide", lambda c, t=0.05: (softmax(c, t) - own(c).float()) * t),
        ("inside the softmax, too", lambda c, t=0.05: (softmax(c, 1) - own(c).float()) / t),
        ("Inside the softmax divide", lambda c, t=0.05: ((c * t).softmax(1) - own(c).float()) / t),
        ("not used", lambda c, t=0.05: softmax(c, 1) - own(c).float()),
        ("0.05 in your code", lambda c, t=0.05: (softmax(c, 0.05) - own(c).float()) / 0.05),
        ("along a row", lambda c, t=0.05: ((c / t).softmax(0) - own(c).float()) / t),
        ("sign", lambda c, t=0.05: (own(c).float() - softmax(c, t)) / t),
        ("subtract 1: raising", lambda c, t=0.05: softmax(c, t) / t),
        ("on the diagonal alone", lambda c, t=0.05: (softmax(c, t) - 1) / t),
        ("The positive has a gradient", lambda c, t=0.05: (softmax(c, t) / t).fill_diagonal_(0)),
        ("among them", lambda c, t=0.05: ((c / t).masked_fill(own(c), -torch.inf).softmax(1) - own(c).float()) / t),
        ("not its log", lambda c, t=0.05: ((c / t).log_softmax(1) - own(c).float()) / t),
        ("sum of their row", lambda c, t=0.05: ((c / t).exp() - own(c).float()) / t),
        ("divide by the number of rows", lambda c, t=0.05: (softmax(c, t) - own(c).float()) / t / len(c)),
        ("the loss of each sentence", lambda c, t=0.05: (c / t).logsumexp(1) - (c / t).diagonal()),
        ("from exp", lambda c, t=0.05: ((e := (c / t).exp()) / e.sum(1, keepdim=True) - own(c).float()) / t),
    ],
    "HARD_BATCH": [
        ("knows no word of one of them", [f"x{i} y z" for i in range(8)]),
        ("8.0 of 8 find themselves. Keep the words", EASY),
        ("find themselves", [*EASY[:6], *ROLES[:2]]),
        ("a list of 8 texts", ROLES[:7]),
        ("a list of 8 texts", "eight sentences"),
        ("each sentence in quotes", [1] * 8),
        ("write sentences", ["It rains."] * 8),
        ("no difference", ["The dog bit the man."] * 8),
        ("no difference", [*ROLES[:7], ROLES[0].upper()]),
        ("no difference", [*ROLES[:7], ROLES[0].replace(".", "!")]),
        ("one is like the passive", [*ROLES[:6], "The man was chased by the dog.", "The dog chased the man."]),
        ("before and after 'and'", [*NUMBERS[:6], "The dog and the man bit.", "The man and the dog bit."]),
        ("not solved yet", ...),
    ],
}


def test_the_same_batch_gets_the_same_verdict_and_leaves_the_random_numbers_alone():
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    assert simcse.share_found(ROLES) == simcse.share_found(ROLES)
    assert torch.equal(torch.rand(1), expected)


def test_the_expected_gradient_is_that_of_the_library_by_another_path():
    rows, columns = (
        F.normalize(torch.randn(4, 8, generator=torch.Generator().manual_seed(seed)).double()) for seed in (0, 1)
    )
    found = 4 * cosine_gradients(lambda a, b: info_nce(a, b, 0.5).total, rows, columns)
    by_hand = simcse.differences((rows @ columns.T).tolist(), 0.5)
    torch.testing.assert_close(found, torch.tensor(by_hand, dtype=torch.float64), atol=1e-5, rtol=1e-5)


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
