"""The setup of a lesson in one call: sizes, a device, an encoder, a world, sentences, dev pairs.

from . import lesson
lab = lesson.setup("00_tour", profile=profile, seed=seed)
run = train(lab.plain.copy(), "simcse", lab.corpus, lab.config(), lab.dev)
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cselab._util.arguments import check_choice
from cselab_lab.headless.record import record
from cselab_lab.headless.recorded import read_recorded, recorded_path, recorded_range
from cselab_lab.headless.sizes import SIZES
from cselab_lab.parameters import typed_parameters

from . import exercises
from .guesses import guess
from .recall import recall
from .result import result

if TYPE_CHECKING:
    from cselab.encoders.encoder import SentenceEncoder
    from cselab.evaluators import PairsEvaluator
    from cselab.training.config import TrainConfig
    from cselab.world import World

__all__ = ["Lesson", "check", "guess", "recall", "result", "setup"]

PUBLISHED: Mapping[str, tuple[str, int, tuple[str, ...]]] = {
    "02_simcse": ("whitenedcse", 1, ("BERT_base (first-last avg.)", "BERT_base-whitening", "SimCSE-BERT_base")),
    "04_whitenedcse": ("whitenedcse", 1, ("SimCSE-BERT_base", "WhitenedCSE-BERT_base")),
    "06_rank_bottleneck": ("imsimcse", 2, ("SimCSE-BERT_base", "+BarlowTwins (D =768)", "+704 artificial z")),
    "07_focal_infonce": ("focal", 2, ("SimCSE-BERT_base", "SimCSE-BERT_base + Focal-InfoNCE")),
}
"""By lesson, the printed rows of BERT-base next to the encoder of a student: paper, table, rows."""


def check(lesson: str, **answers: Any) -> None:
    """Try the checks of a piece and show what passed: `check("02_simcse", my_loss=my_loss)`."""
    for piece, answer in answers.items():
        exercises.staged_check(answer, exercises.pieces(lesson)[piece])


@dataclass(frozen=True)
class Lesson:
    """A lesson's settings; encoder, world and sentences are loaded on first use."""

    name: str
    profile: str
    seed: int  # of training alone
    world_seed: int  # of the world's sentences and pairs
    device: str
    encoder: str
    pooling: str
    sentences: int
    steps: int
    batch_size: int
    lr: float
    precision: str
    eval_every: int
    corpus_file: str | None = None

    @cached_property
    def plain(self) -> SentenceEncoder:
        """The encoder before any training; a run trains `plain.copy()`."""
        from cselab import SentenceEncoder

        return SentenceEncoder.from_pretrained(self.encoder, pooling=self.pooling, device=self.device)

    @cached_property
    def world(self) -> World:
        """The grammar that makes sentences and pairs; the same for every `seed`."""
        from cselab.world import World

        return World(self.world_seed)

    @cached_property
    def corpus(self) -> list[str]:
        """The sentences to train on: of the file, else of the world's train split."""
        from cselab.data import read_sentences

        if self.corpus_file:
            return list(islice(read_sentences(self.corpus_file), self.sentences))
        return [sentence.text for sentence in self.world.sentences(self.sentences, split="train")]

    @cached_property
    def dev(self) -> PairsEvaluator:
        """The development pairs that select a step: 600 of the world, which share no story with its tests."""
        from cselab.evaluators import PairsEvaluator

        return PairsEvaluator(self.world.sts(600, split="dev"))

    def config(self, **changes: Any) -> TrainConfig:
        """The profile's training settings, with changes: `lab.config(seed=1)`."""
        from cselab import TrainConfig

        names = ("steps", "batch_size", "lr", "seed", "eval_every", "precision")
        return TrainConfig(**{name: getattr(self, name) for name in names} | changes)

    def yours(self, **answer: Callable) -> Any:
        """Your piece if it is right, else the solution; one line says which: `loss = lab.yours(my_loss=my_loss)`."""
        ((piece, function),) = answer.items()
        solution = exercises.Solution(self.name, piece)
        return exercises.student_or_reference(function, exercises.pieces(self.name)[piece], solution)

    def keep(self, encoder: SentenceEncoder, name: str | None) -> None:
        """Compare a trained encoder with plain less its mean, and keep it in `encoders/<name>` if a name is given.

        What the lesson's paper printed for BERT-base stands below, named as published.
        """
        import numpy as np

        from cselab import evaluate
        from cselab.evaluators import TransformedEncoder, compare
        from cselab.transforms import fit
        from cselab_lab.experiments.published import PAPERS, published_table

        vectors = np.asarray(self.plain.encode(self.corpus[:2000]))
        control = TransformedEncoder(self.plain, fit("centred", vectors))
        before, after = (evaluate(one, "world", tasks=["World-STS", "Classroom-STS"]) for one in (control, encoder))
        print("your encoder over plain with its mean subtracted", *compare(before, after), sep="\n  ")
        if self.name in PUBLISHED:
            paper, number, rows = PUBLISHED[self.name]
            printed = "".join(f"\n  {row}: {published_table(paper, number).cell(row, 'Avg.').printed}" for row in rows)
            print(f"published for BERT-base, not run here: seven STS sets\n  {PAPERS[paper]}, Table {number}{printed}")
        if name:
            folder = Path("encoders") / Path(name).name
            encoder.save_pretrained(folder)
            print(f"kept in {folder}; in a terminal here: cselab compare {folder} encoders/SOMEBODY")

    def record(self, name: str, value: object, tolerance: float = 1e-6) -> None:
        """`cselab_lab.headless.record.record`, with the recorded value of this number next to it."""
        record(name, value, tolerance, beside=self.recorded(name))

    def recorded(self, name: str) -> str:
        """The recorded value of a number under this profile: `"recorded: 1.5 to 2.0 over 5 seeds"`, or ""."""
        entry = self._baseline.get(name)
        return recorded_range(entry) if entry else ""

    def seeds(self, name: str, here: float) -> dict[int, float]:
        """The recorded values of a number under this profile by seed, with the value of this run for its seed."""
        recorded = self._baseline.get(name, {}).get("seeds", {})
        return {int(seed): value for seed, value in recorded.items()} | {self.seed: float(here)}

    @cached_property
    def _baseline(self) -> dict[str, dict]:
        from cselab_lab.headless.notebook_folder import bundled_notebooks

        for folder in (Path("recorded"), bundled_notebooks() / "recorded"):  # a notebook runs in its own folder
            if recorded := read_recorded(recorded_path(folder, self.name, self.profile)):
                return {entry["name"]: entry for entry in recorded["records"]}
        return {}

    def _repr_html_(self) -> str:
        """The first line, with the others and the versions folded below it."""
        first, *others = (escape(line) for line in repr(self).splitlines())
        return f"<details><summary>{first}</summary><pre>{chr(10).join(others)}</pre></details>"

    def _differs(self) -> str:
        """The size of this run; the text of a lesson describes `mini`."""
        if self.profile == "classroom":
            return ""
        return f": the text describes mini; here {self.encoder} ({self.pooling}) trains for {self.steps} steps"

    def __repr__(self) -> str:
        from cselab._util.versions import versions

        what = f"{self.corpus_file or 'the world'}, {self.sentences} sentences"
        lines = [
            f"{self.name}, profile {self.profile}, on {self.device}" + self._differs(),
            f"encoder {self.encoder} ({self.pooling}), corpus {what}",
            f"training: {self.steps} steps of {self.batch_size}, lr {self.lr:g}, seed {self.seed}",
            ", ".join(f"{what} {version}" for what, version in versions().items()),
        ]
        return "\n".join(lines)


def setup(
    name: str,
    profile: str = "classroom",
    seed: int | str | None = 0,
    *,
    world_seed: int | None = 0,
    corpus: str | None = None,
    device: str | None = None,
    **settings: Any,
) -> Lesson:
    """A lesson's settings: those of the profile, except for the given values. Shown as the last line of a cell.

    Args:
        name: the notebook's, `"00_tour"`; under it the recorded numbers are found.
        profile: `"smoke"` is a test that everything runs, `"classroom"` is for a laptop, `"paper"` for a GPU.
        seed: the seed of training only: order of the sentences and dropout. A different seed is a new run on the same
            data. A name, `"ada"`, is a seed of its own.
        world_seed: the seed of the world's sentences, training and test; change it to see whether a finding depends on
            these sentences.
        corpus: a text file, one sentence per line; without one, sentences of the world.
        device: default: the GPU where there is one.
        settings: encoder, pooling, sentences, steps, batch_size, lr, precision, eval_every; `None` means the profile's,
            as for the seeds, which are 0 in every profile.

    Raises:
        ValueError: an unknown profile or setting, with those that are known; or an invalid value of a setting.
    """
    import torch

    _advise_after_a_restart()
    check_choice("profile", profile, SIZES)
    known = {"seed": 0, "world_seed": 0, **SIZES[profile]}
    for setting in settings:
        check_choice("setting", setting, SIZES[profile])
    if isinstance(seed, str) and not seed.strip().isdecimal():
        seed = zlib.crc32(seed.strip().lower().encode()) % 10_000  # of a student's name
    settings |= {"seed": seed, "world_seed": world_seed}
    asked = {setting: value for setting, value in settings.items() if value is not None}
    chosen: dict[str, Any] = typed_parameters(name, known, asked)
    for size in SIZES.values():
        if size["encoder"] == chosen.get("encoder"):  # its pooling and its learning rate were chosen for it
            chosen = {name: size[name] for name in ("pooling", "lr")} | chosen
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    return Lesson(name, profile, device=device, corpus_file=corpus, **{**known, **chosen})


def _advise_after_a_restart() -> None:
    """Let a cell that runs before the cells above it print a line of advice; only in Jupyter."""
    from IPython import get_ipython

    shell = get_ipython()
    if shell is not None:
        shell.extension_manager.load_extension("cselab_lab.lessons.restarted")
