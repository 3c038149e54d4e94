"""Lesson 07: what is said of wrong answers."""

import pytest
import torch
import torch.nn.functional as F
from cselab_lab.lessons.checks import focal_infonce
from cselab_lab.lessons.checks.focal_infonce import by_hand, differences
from cselab_lab.lessons.exercises import diagnose
from right_answers import FOCAL, TEMPERATURES, focal_gradient, focal_logits, labels, own
from spellings import wrong_answers

from cselab.losses import focal_info_nce
from cselab.metrics import cosine_gradients


def focal(negative, positive=lambda c, m: c * c):
    def answer(c, t=0.07, m=0.3):
        return F.cross_entropy(negative(c, m).diagonal_scatter(positive(c, m).diagonal()) / t, labels(c))

    return answer


def usual(c, m):
    return c * (c + m)


def gradient(negative=lambda c, m: 2 * c + m, positive=lambda c, m: 2 * c, shares=focal_logits, own=torch.eye):
    def answer(c, t=0.07, m=0.3):
        inner = negative(c, m).diagonal_scatter(positive(c, m).diagonal())
        return inner * ((shares(c, m) / t).softmax(1) - own(len(c))) / t

    return answer


def right(c, t, m):
    return FOCAL[1](c, t, m)


def of_logits(end):
    return lambda c, t=0.07, m=0.3: end(focal_logits(c, m) / t)


def trained(encode, loss, weights, batches, lr, falls=True, forgets=True, most=1.0, by=torch.optim.Adam):
    optimizer, losses, norms = by(weights, lr=lr), [], []
    for step, batch in enumerate(batches):
        optimizer.param_groups[0]["lr"] = lr * (1 - falls * step / len(batches))
        if forgets:
            optimizer.zero_grad()
        losses.append(loss(*encode(batch, batch)))
        losses[-1].backward()
        norms.append(torch.nn.utils.clip_grad_norm_(weights, most).item())
        optimizer.step()
    return [found.item() for found in losses], norms


WRONG = {
    "FOCAL": [
        (
            "expected is",
            lambda c, t=0.07, m=0.3: F.cross_entropy(c * torch.where(own(c), c, (c + m).abs()) / t, labels(c)),
        ),
        ("Keep the sign of a negative", focal(lambda c, m: c.abs() * (c + m))),
        ("Detach nothing", focal(lambda c, m: c * (c.detach() + m), lambda c, m: c * c.detach())),
        ("m belongs to the negatives alone", focal(usual, usual)),
        ("on the wrong side", focal(lambda c, m: c * c, usual)),
        ("The positive has a factor, too", focal(usual, lambda c, m: c)),
        ("The negatives have a factor, too", focal(lambda c, m: c)),
        ("This is InfoNCE", focal(lambda c, m: c, lambda c, m: c)),
        ("m is not used", focal(lambda c, m: c * c)),
        ("m is added to the factor, not multiplied", focal(lambda c, m: c * c * m)),
        ("m is added inside the factor", focal(lambda c, m: c * c + m)),
        ("not s - m", focal(lambda c, m: c * (c - m))),
        ("it is not squared", focal(lambda c, m: (c + m) ** 2)),
        ("m is 0.3 in your code", focal(lambda c, m: c * (c + 0.3))),
        (
            "belongs into the sum",
            of_logits(lambda s: ((s - torch.eye(len(s)) * 1e9).logsumexp(1) - s.diagonal()).mean()),
        ),
        ("along a row", lambda c, t=0.07, m=0.3: right(c.T, t, m)),
        ("not the sum", lambda c, t=0.07, m=0.3: len(c) * right(c, t, m)),
        (
            "takes the softmax by itself",
            lambda c, t=0.07, m=0.3: F.cross_entropy((focal_logits(c, m) / t).softmax(1), labels(c)),
        ),
        ("log comes first", of_logits(lambda s: -s.softmax(1).diagonal().mean().log())),
        ("sign", lambda c, t=0.07, m=0.3: -right(c, t, m)),
        ("do not multiply", lambda c, t=0.07, m=0.3: right(c, 1 / t, m)),
        ("The temperature is not used", lambda c, t=0.07, m=0.3: right(c, 1, m)),
        ("0.07 in your code", lambda c, t=0.07, m=0.3: right(c, 0.07, m)),
        (
            "comes from exp",
            lambda c, t=0.07, m=0.3: -((e := (focal_logits(c, m) / t).exp()).diagonal() / e.sum(1)).log().mean(),
        ),
        (
            "One number is wanted",
            lambda c, t=0.07, m=0.3: (focal_logits(c, m) / t).logsumexp(1) - c.diagonal() ** 2 / t,
        ),
    ],
    "FOCAL_GRADIENT": [
        ("the paper's Eq. 4", gradient(lambda c, m: 2 * (c + m))),
        ("changes with s, too", gradient(lambda c, m: c + m, lambda c, m: c)),
        ("s + m is the factor of a negative", gradient(lambda c, m: c + m)),
        ("its derivative is 2 s.", gradient(positive=lambda c, m: c)),
        ("without m", gradient(positive=lambda c, m: 2 * c + m)),
        ("inner derivative is missing", gradient(lambda c, m: 1 + 0 * c, lambda c, m: 1 + 0 * c)),
        ("m is missing", gradient(lambda c, m: 2 * c)),
        ("m is 0.3 in your code", lambda c, t=0.07, m=0.3: focal_gradient(c, t, 0.3)),
        ("that of InfoNCE: the shares", gradient(shares=lambda c, m: c)),
        ("gradient of InfoNCE", gradient(lambda c, m: 0 * c + 1, lambda c, m: 0 * c + 1, lambda c, m: c)),
        ("The positive has a gradient", lambda c, t=0.07, m=0.3: focal_gradient(c, t, m).fill_diagonal_(0)),
        ("subtract 1: raising", gradient(own=lambda n: 0)),
        ("outside the softmax", lambda c, t=0.07, m=0.3: focal_gradient(c, t, m) * t),
        ("inside the softmax", lambda c, t=0.07, m=0.3: focal_gradient(c, 1, m) / t),
        ("The temperature is not used", lambda c, t=0.07, m=0.3: focal_gradient(c, 1, m)),
        ("along a row", lambda c, t=0.07, m=0.3: focal_gradient(c.T, t, m).T),
        ("sign", lambda c, t=0.07, m=0.3: -focal_gradient(c, t, m)),
        ("number of rows", lambda c, t=0.07, m=0.3: focal_gradient(c, t, m) / len(c)),
        (
            "is left alone",
            lambda c, t=0.07, m=0.3: torch.where(c < 0, focal_gradient(c, t, m).abs(), focal_gradient(c, t, m)),
        ),
    ],
    "TEMPERATURES": [
        ("expected is", lambda c, t=0.07, m=0.3: t / torch.where(own(c), c, c + m).abs()),
        ("over the slope", lambda c, t=0.07, m=0.3: t / (2 * c + torch.where(own(c), 0, m))),
        ("a positive has t / s", lambda c, t=0.07, m=0.3: t / (c + m)),
        ("m is missing", lambda c, t=0.07, m=0.3: t / c),
        ("Divide by s + m", lambda c, t=0.07, m=0.3: t * torch.where(own(c), c, c + m)),
        ("over the temperature", lambda c, t=0.07, m=0.3: torch.where(own(c), c, c + m) / t),
        ("The positive has a factor", lambda c, t=0.07, m=0.3: torch.where(own(c), t, t / (c + m))),
        ("These are the logits", lambda c, t=0.07, m=0.3: focal_logits(c, m) / t),
        ("Transpose it", lambda c, t=0.07, m=0.3: TEMPERATURES[0](c, t, m).T),
        ("0.07 in your code", lambda c, t=0.07, m=0.3: TEMPERATURES[0](c, 0.07, m)),
    ],
    "TRAINING": [
        ("AdamW shrinks the weights", lambda *given: trained(*given, by=torch.optim.AdamW)),
        ("are the first one", lambda encode, *more: trained(lambda *both: encode(*both)[:1] * 2, *more)),
        ("share of steps that are left", lambda *given: trained(*given, falls=False)),
        ("zero_grad", lambda *given: trained(*given, forgets=False)),
        ("at most 1", lambda *given: trained(*given, most=1e9)),
        ("not plain descent", lambda *given: trained(*given, by=torch.optim.SGD)),
        ("First the losses", lambda *given: trained(*given)[::-1]),
        ("shape should be", lambda *given: trained(*given)[0]),
        ("is `return` missing?", lambda *given: print(trained(*given))),
    ],
    "CONSTANT": [
        ("expected is", lambda c, t=0.07, m=0.3: F.cross_entropy(c / t, labels(c))),
        ("One number is wanted", lambda c, t=0.07, m=0.3: F.cross_entropy(c / t, labels(c), reduction="none")),
        ("still change with s", right),
        ("factors.detach()", lambda c, t=0.07, m=0.3: right(c.detach(), t, m) + 0 * c.sum()),
        ("Detach the factors alone", lambda c, t=0.07, m=0.3: right(c.detach(), t, m)),
        (
            "(s + m) / t",
            lambda c, t=0.07, m=0.3: right(c, t, m) / 2 + right(c.detach(), t, m) / 2 + c.sum() - c.sum().detach(),
        ),
    ],
}


def unit_rows(seed, rows):
    return F.normalize(torch.randn(rows, 8, generator=torch.Generator().manual_seed(seed)).double())


def test_the_expected_values_are_those_of_the_library_by_another_path():
    rows, columns = unit_rows(0, 5), unit_rows(1, 5)
    table = (rows @ columns.T).tolist()
    assert by_hand(table, 0.1, 0.4) == pytest.approx(focal_info_nce(rows, columns, 0.1, m=0.4).total.item(), abs=1e-9)
    found = 5 * cosine_gradients(lambda a, b: focal_info_nce(a, b, 0.5, m=0.3).total, rows, columns)
    by_differences = torch.tensor(differences(table, 0.5, 0.3), dtype=torch.float64)
    torch.testing.assert_close(found, by_differences, atol=1e-5, rtol=1e-5)


@wrong_answers(focal_infonce, WRONG)
def test_a_wrong_answer_is_named(exercise, said, answer):
    verdict = diagnose(answer, exercise)
    assert not verdict.solved and said in verdict.lines[-1], verdict
