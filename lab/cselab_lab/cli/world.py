"""`cselab world`: text of the bundled world."""

import click

from cselab_lab.cli.frame import Group
from cselab_lab.cli.options import several

world = Group("world", help="Text of the bundled world, on standard output. The same seed gives the same.")


def _split(default: str) -> list:
    return [
        click.argument("n", type=click.IntRange(1), metavar="N", help="how many"),
        click.option(
            "--split",
            default=default,
            show_default=True,
            type=click.Choice(["train", "dev", "test"]),
            help="the splits have no story in common",
        ),
        click.option("--seed", default=0, metavar="N", help="random seed", show_default=True),
    ]


@world.command("sentences")
@several(*_split("train"))
def world_sentences(n: int, split: str, seed: int) -> None:
    """Print N different sentences, one a line."""
    from cselab.world import World

    for sentence in World(seed).sentences(n, split):
        click.echo(sentence.text)


@world.command("documents")
@several(*_split("train"))
def world_documents(n: int, split: str, seed: int) -> None:
    """Print N texts of five sentences, one sentence a line.

    The sentences of a text follow one another.
    """
    from cselab.world import World

    for document in World(seed).documents(n, split):
        for sentence in document:
            click.echo(sentence.text)


@world.command("pairs")
@several(*_split("test"))
def world_pairs(n: int, split: str, seed: int) -> None:
    """Print N graded pairs, one a line.

    A line is sentence, sentence, grade from 0 to 5, kind of pair, with tabs between.
    """
    from cselab.world import World

    pairs = World(seed).sts(n, split)
    for row in zip(pairs.sentences1, pairs.sentences2, pairs.scores, pairs.subsets, strict=True):
        click.echo("\t".join(map(str, row)))
