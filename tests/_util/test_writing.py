"""Files are written whole or not at all."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from cselab._util.writing import folder_written_whole, write_text, written_whole


def test_a_failed_write_keeps_the_old_file_and_leaves_no_part(tmp_path):
    file = tmp_path / "page.html"
    write_text(file, "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(file, "half \ud800")
    assert file.read_text() == "old" and os.listdir(tmp_path) == ["page.html"]


def test_a_link_keeps_its_target_and_a_device_stays_a_device(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_text() == "new"
    write_text(Path(os.devnull), "nothing")
    assert Path(os.devnull).is_char_device()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_is_named_with_the_file():
    with pytest.raises(OSError, match=r"/dev/full could not be written \(no space left on the disk\): free some space"):
        write_text(Path("/dev/full"), "text")


@pytest.mark.parametrize("name", ["v.npy", "a" * 255, "ü" * 127, ".hidden", "v.npy.part"])
def test_of_two_writers_at_once_the_later_one_stays_whole(name, tmp_path):
    with written_whole(tmp_path / name) as first:
        first.write_text("half")
        with written_whole(tmp_path / name) as second:
            second.write_text("the second, whole")
        assert (tmp_path / name).read_text() == "the second, whole"
        first.write_text("the first, whole")
    assert (tmp_path / name).read_text() == "the first, whole" and os.listdir(tmp_path) == [name]


def test_a_writer_that_fails_does_not_remove_another_ones_file(tmp_path):
    with written_whole(tmp_path / "f") as first:
        first.write_text("whole")
        with pytest.raises(RuntimeError), written_whole(tmp_path / "f") as second:
            second.write_text("half")
            raise RuntimeError
    assert (tmp_path / "f").read_text() == "whole"


def test_a_second_writer_of_a_folder_waits_for_the_first(tmp_path):
    halfway = Event()

    def write(text, first):
        if not first:
            halfway.wait(10)
        with folder_written_whole(tmp_path, last="b") as aside:
            (aside / "a").write_text(text)
            halfway.set()
            assert sorted(os.listdir(aside)) == ["a"]
            (aside / "b").write_text(text)

    with ThreadPoolExecutor(2) as two:
        for done in [two.submit(write, "first", True), two.submit(write, "second", False)]:
            done.result(30)
    assert [(tmp_path / name).read_text() for name in "ab"] == ["second", "second"]
    assert sorted(os.listdir(tmp_path)) == [".saving.lock", "a", "b"]
