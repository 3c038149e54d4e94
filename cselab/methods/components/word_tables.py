"""Tables of replacement words: the world's, or those of a user's file."""

from cselab.augmentations import Substitution
from cselab.data import read_rows
from cselab.world import World


def synonyms(path: str | None) -> Substitution:
    """Words of one meaning: the world's, or the pairs of a tab-separated file with the columns word and synonym.

    Raises:
        DataError: a file that cannot be read so; names the line.
    """
    groups = World().synonyms().values() if path is None else read_rows(path, ("word", "synonym"))
    return Substitution.among(list(groups))


def antonyms(path: str | None) -> Substitution:
    """Words of opposite meaning: the world's, or the pairs of a tab-separated file with the columns word and antonym.

    Raises:
        DataError: a file that cannot be read so; names the line.
    """
    if path is None:
        return Substitution(World().antonyms())
    return Substitution.among(list(read_rows(path, ("word", "antonym"))))
