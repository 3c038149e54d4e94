"""Tables of replacement words: the world's, or those of a user's file."""

from cselab.augmentations import Substitution
from cselab.data import read_rows


def synonyms(path: str | None) -> Substitution:
    """Words of one meaning: the world's, or the pairs of a tab-separated file with the columns word and synonym.

    Raises:
        DataError: a file that cannot be read so; names the line.
    """
    if path is None:
        from cselab.world import World

        return Substitution.among(list(World().synonyms().values()))
    return Substitution.among(list(read_rows(path, ("word", "synonym"))))


def antonyms(path: str | None) -> Substitution:
    """Words of opposite meaning: the world's, or the pairs of a tab-separated file with the columns word and antonym.

    Raises:
        DataError: a file that cannot be read so; names the line.
    """
    if path is None:
        from cselab.world import World

        return Substitution(World().antonyms())
    return Substitution.among(list(read_rows(path, ("word", "antonym"))))
