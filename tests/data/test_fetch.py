"""Fetching from a local copy of the hub: the files of its repositories, as the hub's own library caches them."""

import io
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from huggingface_hub import constants
from huggingface_hub.errors import RemoteEntryNotFoundError

from cselab.data import load_sts
from cselab.data.classification import CLASSES, CLASSIFICATION_TASKS, FILES_BY_CLASS, load_classification
from cselab.data.fetch import ARCHIVE, FETCHED_TASKS, Unreachable, fetch, senteval_files
from cselab.data.published import describe, published_parts
from cselab.data.sts import STS_PAIRS, STS_TASKS, SUBSETS

ROWS = 4
GONE = RemoteEntryNotFoundError("404", response=SimpleNamespace(headers={}, request=None))
LATIN_1 = (*FILES_BY_CLASS, "TREC")


def pairs_of(part):
    return [(f'the {part} café says " row {row}', f"row {row} of {part} , too", row * 1.25) for row in range(ROWS)]


def labelled_of(part, task):
    """Rows of a transfer file: text, second text and label; where the file is the class, all of one label."""
    if task in FILES_BY_CLASS:
        labels = [1 - FILES_BY_CLASS[task].index(part)] * ROWS
    else:
        labels = [row % len(CLASSES[task]) for row in range(ROWS)]
    second = "and so says the café" if task == "MRPC" else ""
    return [(f"row {row} of {part} café", second, label) for row, label in enumerate(labels)]


def lines_of(part, task):
    if task == "MRPC":
        header = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String"
        return [header, *(f"{c}\t1\t2\t{a}\t{b}" for a, b, c in labelled_of(part, task))]
    if task == "SST-2":
        return [f"{text}\t{label}" for text, _, label in labelled_of(part, task)]
    if task == "TREC":
        return [f"{CLASSES[task][label]}:x {text}" for text, _, label in labelled_of(part, task)]
    return [text for text, _, _ in labelled_of(part, task)]


@pytest.fixture
def published(monkeypatch):
    """The files of all sets, a few rows each, known as the published ones; of SUBJ and MPQA only how many."""
    files = {}
    for part in published_parts("sts"):
        task, name = part.split("/")
        monkeypatch.setitem(published_parts("sts"), part, describe(pairs_of(part)))
        if task in SUBSETS:
            stem = f"STS/{task}-en-test/STS.{{}}.{name}.txt"
            files[stem.format("input")] = ["unscored\tpair", *(f"{a}\t{b}" for a, b, _ in pairs_of(part))]
            files[stem.format("gs")] = ["", *(f"{score:.3f}" for _, _, score in pairs_of(part))]
    for split in STS_PAIRS["STS-B"]:
        rows = pairs_of(f"STS-B/{split}")
        files[f"STS/STSBenchmark/sts-{split}.csv"] = [f"g\tf\ty\t1\t{c:.3f}\t{a}\t{b}" for a, b, c in rows]
    for name, split in zip(senteval_files("SICK-R"), STS_PAIRS["SICK-R"], strict=True):
        rows = pairs_of(f"SICK-R/{split}")
        files[name] = ["pair_ID\tA\tB\tscore\tjudgement", *(f"1\t{a}\t{b}\t{c}\tNEUTRAL" for a, b, c in rows)]
    for task in CLASSIFICATION_TASKS:
        for part in senteval_files(task):
            known = describe(labelled_of(part, task))
            known = {"rows": known["rows"]} if task in ("SUBJ", "MPQA") else known
            monkeypatch.setitem(published_parts("labelled"), part, known)
            files[part] = lines_of(part, task)
    latin_1 = {name for task in LATIN_1 for name in senteval_files(task)}
    return {
        name: "".join(f"{line}\n" for line in lines).encode("latin-1" if name in latin_1 else "utf-8")
        for name, lines in files.items()
    }


def archive_of(files, prefix=""):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(prefix + name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def publish_archive(hub, files, prefix=""):
    hub(*ARCHIVE, archive_of(files, prefix))


def files_in(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("[!.]*") if path.is_file()}


def fetched(*arguments):
    return {line.task: (line.status, line.detail) for line in fetch(*arguments)}


# ------------------------------------------------------------------------------------------ whole sets


@pytest.mark.parametrize("prefix", ["", "./"])
def test_every_set_of_the_archive_comes_out_byte_for_byte(hub, published, tmp_path, prefix):
    publish_archive(hub, published, prefix)
    folder = tmp_path / "new" / "data"
    said = fetched(folder)
    assert tuple(said) == (*STS_TASKS, *CLASSIFICATION_TASKS)
    assert {status for status, _ in said.values()} == {"fetched"}
    assert said["STS-B"][1] == "12 rows, as published"
    assert said["SUBJ"][1] == "8 rows, the right number, but unknown text"
    assert {name: (folder / name).read_bytes() for name in files_in(folder)} == published
    assert load_sts("STS14", folder).provenance == load_classification("MR", folder).provenance == "as published"


def test_nothing_of_the_archive_is_written(hub, published, tmp_path):
    """Nothing of the archive is written but the files of the set."""
    packed = io.BytesIO(archive_of({"../evil": b"", "/evil": b"", "CR/readme": b"", **published}))
    with tarfile.open(fileobj=packed, mode="a") as archive:
        link = tarfile.TarInfo("CR/custrev.neg")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        archive.addfile(link)
    hub(*ARCHIVE, packed.getvalue())
    assert fetched(tmp_path / "data", ["CR"])["CR"][0] == "fetched"
    assert files_in(tmp_path / "data") == {"CR/custrev.pos", "CR/custrev.neg"}
    assert (tmp_path / "data/CR/custrev.neg").read_bytes() == published["CR/custrev.neg"]


def test_a_folder_above_is_completed_where_its_sets_are(hub, published, tmp_path):
    publish_archive(hub, published)
    fetched(tmp_path / "data" / "senteval", ["MR"])
    fetched(tmp_path / "data", ["CR"])
    assert {name.split("/")[0] for name in files_in(tmp_path / "data/senteval")} == {"MR", "CR"}


# ------------------------------------------------------------------------------------------ not whole


def cut_short(lines):
    return lines[:-1]


def one_too_many(lines):
    return [*lines, lines[-1]]


def word_swapped(lines):
    return [line.replace(b"says", b"said") for line in lines]


def score_swapped(lines):
    return [line.replace(b"1.250", b"4.750") for line in lines]


@pytest.mark.parametrize("damage", [cut_short, one_too_many, word_swapped, score_swapped])
@pytest.mark.parametrize(
    "task, file", [("STS12", "STS/STS12-en-test/STS.{}.MSRpar.txt"), ("STS-B", "STS/STSBenchmark/sts-test.csv")]
)
def test_a_set_that_is_not_the_published_one_is_refused(hub, published, tmp_path, task, file, damage):
    """A set that is not the published one is refused and the others stay."""
    file = file.format("gs" if damage is score_swapped else "input")
    lines = damage(published[file].splitlines(keepends=True))
    publish_archive(hub, {**published, file: b"".join(lines)})
    said = fetched(tmp_path / "data", ["STS12", "STS13", "STS-B"])
    assert {name for name, (status, _) in said.items() if status == "refused"} == {task}
    assert Path(file).name.split(".")[-2] in said[task][1] and str(tmp_path / "data") not in said[task][1]
    there = set(senteval_files("STS12") + senteval_files("STS13") + senteval_files("STS-B"))
    assert files_in(tmp_path / "data") == there - set(senteval_files(task))


def test_another_text_of_the_right_number_is_refused(hub, published, tmp_path):
    names = senteval_files("STS-B")
    other = {name: b"".join(published[name].splitlines(True)).replace(b"row", b"line") for name in names}
    publish_archive(hub, {**published, **{name: text.replace(b"1.250", b"4.750") for name, text in other.items()}})
    status, detail = fetched(tmp_path / "data", ["STS-B"])["STS-B"]
    assert status == "refused" and "neither the words nor the scores are the published ones" in detail


def test_an_archive_that_is_cut_or_lacks_a_file_is_refused(hub, published, tmp_path):
    """An archive that is cut or lacks a file is refused by name."""
    hub(*ARCHIVE, archive_of({name: published[name] for name in senteval_files("MR")})[:600])
    assert "senteval.tar: cannot be unpacked" in fetched(tmp_path / "data", ["MR"])["MR"][1]
    publish_archive(hub, {name: content for name, content in published.items() if name != "CR/custrev.neg"})
    said = fetched(tmp_path / "data", ["CR", "MR"])
    assert said["CR"] == ("refused", f"senteval.tar of {ARCHIVE[0]} does not hold CR/custrev.neg")
    assert said["MR"][0] == "fetched"


# ------------------------------------------------------------------------------------------ what is there


def test_a_whole_set_that_is_there_is_kept_without_a_download(hub, published, tmp_path):
    publish_archive(hub, published)
    fetched(tmp_path / "data", ["MR"])
    (tmp_path / "hub").rename(tmp_path / "gone")
    assert fetched(tmp_path / "data", ["MR"]) == {"MR": ("kept", "8 rows, as published")}


def test_a_set_of_which_a_file_is_there_is_completed(hub, published, tmp_path):
    publish_archive(hub, published)
    there, lacking = (tmp_path / "data" / name for name in senteval_files("MR"))
    there.parent.mkdir(parents=True)
    there.write_bytes(published["MR/rt-polarity.pos"])
    before = there.stat()
    assert fetched(tmp_path / "data", ["MR"])["MR"][0] == "fetched"
    assert (there.stat().st_ino, there.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert lacking.read_bytes() == published["MR/rt-polarity.neg"]


def test_a_file_with_other_content_is_never_overwritten(hub, published, tmp_path):
    publish_archive(hub, published)
    mine = tmp_path / "data" / "MR" / "rt-polarity.pos"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine\n")
    status, detail = fetched(tmp_path / "data", ["MR"])["MR"]
    assert status == "refused" and f"{mine} exists with different content and was kept" in detail
    assert files_in(tmp_path / "data") == {"MR/rt-polarity.pos"} and mine.read_text() == "mine\n"


def test_an_interrupted_write_leaves_nothing_and_can_be_repeated(hub, published, tmp_path, monkeypatch):
    publish_archive(hub, published)
    write, written = Path.write_bytes, []

    def interrupted(path, content):
        if len(written) == 3:
            write(path, content[: len(content) // 2])
            raise KeyboardInterrupt
        written.append(path)
        return write(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fetched(tmp_path / "data", ["STS12"])
    assert len(written) == 3 and not files_in(tmp_path / "data")
    assert fetched(tmp_path / "data", ["STS12"])["STS12"][0] == "fetched"


def test_fetch_removes_what_a_killed_one_left(hub, published, tmp_path):
    publish_archive(hub, published)
    left = tmp_path / "data/saving.part/MR/rt-polarity.pos"
    left.parent.mkdir(parents=True)
    left.write_text("half")
    assert fetched(tmp_path / "data", ["STS12"])["STS12"][0] == "fetched" and not left.exists()


# ------------------------------------------------------------------------------------------ no hub


def test_without_a_network_it_says_which_sets_are_lacking(hub, published, tmp_path):
    """Without a network it says which sets are lacking and what to do."""
    publish_archive(hub, published)
    fetched(tmp_path / "data", ["STS12"])
    (tmp_path / "hub").rename(tmp_path / "gone")
    lines = fetch(tmp_path / "data", ["STS12", "STS13", "STS-B"])
    assert next(lines).status == "kept"
    with pytest.raises(Unreachable) as error:
        next(lines)
    assert "cannot be reached for princeton-nlp/datasets-for-simcse/senteval.tar at e145e8b" in str(error.value)
    assert "(HF_HUB_OFFLINE is set). Not fetched: STS13, STS-B." in str(error.value)
    with pytest.raises(Unreachable, match="copy a SentEval folder from a different machine"):
        fetched(tmp_path / "other")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("error", [OSError("connection reset"), RuntimeError("connection reset"), GONE])
def test_a_download_that_breaks_off_or_has_left_the_hub_is_named(hub, tmp_path, monkeypatch, error):
    def breaks_off(*arguments, **settings):
        raise error

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr("cselab.data.fetch._downloaded", breaks_off)
    if error is GONE:
        status, detail = fetched(tmp_path / "data", ["MR"])["MR"]
        assert (
            status == "refused"
            and "the Hugging Face hub no longer has" in detail
            and "senteval.tar at e145e8b" in detail
        )
    else:
        with pytest.raises(
            Unreachable, match=r"senteval\.tar at e145e8b, or the connection broke off \(connection reset\)"
        ):
            fetched(tmp_path / "data", ["MR"])


# ------------------------------------------------------------------------------------------ arguments


@pytest.mark.parametrize(
    "task, said",
    [
        ("STS11", r"unknown set to fetch 'STS11'.* Choose one of STS12, .* MRPC$"),
        ("AgNews", "GoogleNews are not fetched, .* https://github.com/"),
    ],
)
def test_what_cannot_be_fetched_is_refused(tmp_path, task, said):
    """What cannot be fetched is refused before anything is done."""
    with pytest.raises(ValueError, match=said):
        fetch(tmp_path / "data", [task])
    assert not (tmp_path / "data").exists()


def test_a_folder_is_needed(tmp_path, monkeypatch):
    monkeypatch.setenv("CSELAB_DATA", "")
    with pytest.raises(ValueError, match="no data folder: give one to write to, or set CSELAB_DATA"):
        fetch()
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="file is a file"):
        fetch(tmp_path / "file")


# ------------------------------------------------------------------------- on the real files, where they are


def test_the_real_sets_pass_through(hub, real_data, tmp_path):
    senteval = real_data / "senteval"
    whole = [task for task in FETCHED_TASKS if all((senteval / n).is_file() for n in senteval_files(task))]
    publish_archive(hub, {name: (senteval / name).read_bytes() for task in whole for name in senteval_files(task)})
    said = fetched(tmp_path / "data", whole)
    assert all(status == "fetched" and ", as published" in detail for status, detail in said.values())
