"""Jobs and records are read as they were written, whatever they hold."""

import json
import os
from dataclasses import replace

from cselab_lab.experiments.store import Job, JobRecord, JobSpec, Store
from hypothesis import given
from hypothesis import strategies as st

NAME = st.text(min_size=1)
VALUE = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.lists(st.integers())
SEED = st.none() | st.integers(min_value=0)
ENCODER = {"encoder": NAME, "weights": st.none() | NAME, "pooling": NAME, "seed": SEED}
TEXT = {"corpus": NAME, "corpus_sha256": st.text(), "words": st.none() | st.tuples(st.integers(), st.integers())}


def trained(parameter=VALUE):
    columns = st.lists(NAME, min_size=1).map(tuple)
    recipe = st.dictionaries(NAME.filter(lambda name: name != "seed"), VALUE)
    own = {"columns": columns, "method": NAME, "parameters": st.dictionaries(NAME, parameter), "recipe": recipe}
    return st.builds(JobSpec, **ENCODER, **TEXT, **own, dev=NAME)


SPEC = (
    st.builds(JobSpec, reference=NAME, seed=SEED)
    | st.builds(JobSpec, **ENCODER, **TEXT, posthoc=NAME, fit_on=st.none() | st.integers())
    | trained(VALUE | trained())
)


@given(SPEC, st.dictionaries(NAME, st.floats(allow_nan=False)), st.none() | NAME)
def test_job_record_round_trip(spec, scores, failure):
    """A line gives the same record, spec and hash; one that refers keeps the names alone."""
    job = Job("an experiment", "a profile", "a row", spec, ("world",), "world")
    record = JobRecord.of(job, scores=scores, failure=failure)
    again = JobRecord.from_json(json.loads(json.dumps(record.to_json())))
    assert again == record and again.spec.hash == record.hash == spec.hash
    reference = JobRecord.of(job, source="another experiment").to_json()
    assert set(reference) == {"experiment", "profile", "row", "seed", "hash", "from"}
    assert JobRecord.from_json(reference).to_json() == reference


def test_a_line_with_more_numbers_replaces_the_earlier_one(tmp_path, monkeypatch):
    """Each is whole on the disk when the job counts as finished."""
    sizes = []
    monkeypatch.setattr(os, "fsync", lambda file: sizes.append(os.fstat(file).st_size))
    store, record = Store(tmp_path, "e", "p"), JobRecord("e", "p", "row", 0, "h", JobSpec())
    for scores in ({"a": 1.0}, {"a": 1.0, "b": 2.0}, {"b": 3.0}):
        store.append(replace(record, scores=scores))
        assert sizes[-1] == store.path.stat().st_size
    assert store.read()["h"].scores == {"a": 1.0, "b": 2.0}
