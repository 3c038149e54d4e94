"""`cselab world`: text of the bundled world."""

from typing import Annotated

import typer

from cselab_lab.cli.frame import Command, group

world_app = group("Text of the bundled world, on standard output. The same seed gives the same.")

HowMany = Annotated[int, typer.Argument(help="how many")]
Split = Annotated[str, typer.Option(help="train, dev or test, which have no story in common")]
WorldSeed = Annotated[int, typer.Option(help="random seed")]


@world_app.command("sentences", cls=Command)
def world_sentences(n: HowMany, split: Split = "train", seed: WorldSeed = 0) -> None:
    """Print N different sentences, one a line."""
    from cselab.world import World

    for sentence in World(seed).sentences(n, split):
        typer.echo(sentence.text)


@world_app.command("documents", cls=Command)
def world_documents(n: HowMany, split: Split = "train", seed: WorldSeed = 0) -> None:
    """Print N texts of five sentences, one sentence a line.

    The sentences of a text follow one another.
    """
    from cselab.world import World

    for document in World(seed).documents(n, split):
        for sentence in document:
            typer.echo(sentence.text)


@world_app.command("pairs", cls=Command)
def world_pairs(n: HowMany, split: Split = "test", seed: WorldSeed = 0) -> None:
    """Print N graded pairs, one a line.

    A line is sentence, sentence, grade from 0 to 5, kind of pair, with tabs between.
    """
    from cselab.world import World

    pairs = World(seed).sts(n, split)
    for row in zip(pairs.sentences1, pairs.sentences2, pairs.scores, pairs.subsets, strict=True):
        typer.echo("\t".join(map(str, row)))
