"""Freed memory is used again within the loop, and goes back to the system after it."""

import json
import platform
import subprocess
import sys

import pytest

COUNT = """
import json, resource, torch
from cselab.training.allocator import freed_memory_kept

def new_pages(steps=5):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(steps):
        block = torch.ones(10_000_000)
        del block
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

def resident():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))

new_pages()
handed_back = new_pages()
with freed_memory_kept():
    new_pages(30)  # the C library finds its way
    kept = new_pages()
    held = resident()
print(json.dumps({"handed back": handed_back, "kept": kept, "held": held, "after": resident()}))
"""


@pytest.mark.process
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc")
def test_within_the_loop_blocks_are_used_again_and_after_it_they_are_given_back():
    counted = json.loads(subprocess.run([sys.executable, "-c", COUNT], capture_output=True, check=True).stdout)
    pages_of_a_block = 40_000_000 // 4096
    assert counted["handed back"] > pages_of_a_block  # else there was nothing to mend
    assert counted["kept"] < pages_of_a_block / 10
    assert counted["held"] - counted["after"] > 30_000  # kB: the block


def test_another_c_library_is_left_as_it_is(monkeypatch):
    from cselab.training import allocator

    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    monkeypatch.setattr(allocator.ctypes, "CDLL", lambda _: pytest.fail("no glibc: its mallopt was called"))
    with allocator.freed_memory_kept():
        pass
