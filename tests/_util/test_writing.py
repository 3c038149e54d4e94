"""Files are written whole or not at all."""

import os
from pathlib import Path

import pytest

from cselab._util.writing import write_text


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
