"""`cselab world`: text of the bundled world."""

import click

from cselab_lab.cli.frame import Group
from cselab_lab.cli.options import COUNT, several

SPLITS = click.Choice(["train", "dev", "test"])
world = Group("world", help="Text of the bundled world, on standard output. The same seed gives the same.")


def _split(default: str) -> list:
    return [
        click.argument("n", help="how many", **COUNT),
        click.option("--split", default=default, type=SPLITS, help="no story is in two of them"),
        click.option("--seed", default=0, metavar="N", help="random seed"),
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
