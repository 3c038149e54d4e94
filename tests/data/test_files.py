import gzip
import itertools
import lzma
import os

import pytest

from cselab.data import DataError, MissingFile, read_lines, read_sentences

SENTENCES = ["A dog runs.", "Zwei Hunde schlafen – draußen.", "One \u2028 sentence, not two."]


def write(path, content: bytes):
    opener = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    with opener(path, "wb") as file:
        file.write(content)
    return path


def test_lines_keep_their_blanks_and_lose_only_their_ends(tmp_path):
    path = write(tmp_path / "scores.txt", b"5\r\n\n 3 \n")
    assert list(read_lines(path)) == ["5", "", " 3 "]


def test_a_corpus_is_streamed(tmp_path):
    path = write(tmp_path / "corpus.txt.xz", b"good\n" * 200_000 + b"bad \xff\n")
    sentences = read_sentences(path)
    assert list(itertools.islice(sentences, 3)) == ["good"] * 3
    with pytest.raises(DataError, match="line 200001"):
        list(sentences)


@pytest.mark.parametrize("content", [b"", b"\n \n\t\n"])
@pytest.mark.parametrize("name", ["empty.txt", "empty.txt.gz", "empty.txt.xz"])
def test_a_corpus_without_a_sentence_is_refused_at_once(tmp_path, name, content):
    path = write(tmp_path / name, content)
    with pytest.raises(DataError, match=rf"{name}: no sentence"):
        read_sentences(path)


def test_a_missing_file_is_refused_at_once(tmp_path):
    """A missing file is refused at once as python users expect."""
    with pytest.raises(FileNotFoundError, match=r"nowhere\.txt: no such file"):
        read_sentences(tmp_path / "nowhere.txt")
    with pytest.raises(MissingFile, match="is a folder"):
        read_sentences(tmp_path)
    with pytest.raises(DataError, match=r"c\.txt\.zst: cselab cannot decompress .zst: run zstd -d"):
        read_sentences(write(tmp_path / "c.txt.zst", b"a"))


@pytest.mark.parametrize("name", ["corpus.txt.gz", "corpus.txt.xz"])
def test_a_packed_file_that_is_cut_short_or_plain_is_noticed(tmp_path, name):
    path = write(tmp_path / name, "\n".join(f"sentence {i * i} of many" for i in range(5000)).encode())
    for content, after in ((path.read_bytes()[:-2000], r" after line \d+"), (b"not packed at all\n", "")):
        path.write_bytes(content)
        with pytest.raises(DataError, match=rf"{name}: cannot be unpacked{after}"):
            list(read_sentences(path))


BOM = "\ufeff"


@pytest.mark.parametrize(
    "text, lines",
    [
        (f"{BOM}a\nb", ["a", "b"]),
        (f"a\n{BOM}b\n{BOM}", ["a", f"{BOM}b", BOM]),
        (f"{BOM}{BOM}a", [f"{BOM}a"]),
        (f"a{BOM}\rb", [f"a{BOM}", "b"]),
        (f"{BOM}a\r{BOM}b", ["a", f"{BOM}b"]),
        (f"{BOM}\n{BOM}a", ["", f"{BOM}a"]),
    ],
)
def test_a_byte_order_mark_is_dropped_at_the_start_only(text, lines, tmp_path):
    (tmp_path / "t.txt").write_bytes(text.encode())
    assert list(read_lines(tmp_path / "t.txt")) == lines


def test_a_stream_is_told_from_a_missing_file(tmp_path):
    os.mkfifo(tmp_path / "stream")
    with pytest.raises(MissingFile, match="is a stream, which can be read only once: give - for standard input"):
        read_lines(tmp_path / "stream")
    (tmp_path / "annexed.txt").symlink_to("../.git/annex/objects/SHA256E-s1")
    (tmp_path / "loop.txt").symlink_to("loop.txt")
    for name, said in (("annexed.txt", "git annex get"), ("loop.txt", "no such file"), ("none.txt", "no such file")):
        with pytest.raises(MissingFile, match=said):
            read_lines(tmp_path / name)
