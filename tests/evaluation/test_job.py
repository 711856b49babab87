"""Jobs, reports and descriptions cross as canonical JSON."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_fakes import small_task

from evolve.evaluation.job import (
    Charge,
    Description,
    Job,
    Report,
    decode_job,
    decode_message,
    decode_report,
    encode_job,
    encode_message,
    encode_report,
)
from evolve.sandbox.means import Means
from evolve.types import Evaluation, Outcome, Parameters, Trial, text_id

NAMES = st.text(max_size=8)
TRIALS = st.builds(
    Trial,
    seed=st.integers(0, 2**63),
    split=st.sampled_from(["search", "confirm", "held_out"]),
    limit=st.floats(0, 1e6),
    parameters=st.dictionaries(NAMES, st.integers() | st.booleans() | NAMES, max_size=3).map(Parameters),
)
JOBS = st.builds(
    Job,
    id=NAMES,
    kind=st.sampled_from(["evaluate", "certify", "fingerprint", "draw"]),
    trial=TRIALS,
    files=st.dictionaries(NAMES, st.text(), max_size=3),
    artifacts=st.dictionaries(NAMES, st.text(), max_size=3),
    stage=NAMES,
)


@given(JOBS)
@settings(max_examples=60, deadline=None)
def test_a_job_arrives_as_it_was_sent(job):
    """Also with lone surrogates and empty names."""
    assert decode_job(encode_job(job)) == job


def test_a_decoded_trial_reads_its_parameters_as_attributes():
    """Plain dictionaries become `Parameters` again."""
    job = Job("1.0", "evaluate", Trial(parameters=Parameters({"n": 26})), {"seed.py": ""})
    assert decode_job(encode_job(job)).trial.parameters.n == 26


def test_equal_jobs_are_equal_bytes():
    """The order of files does not matter: the encoding is canonical."""
    one = Job("1.0", "evaluate", files={"a.py": "1", "b.py": "2"})
    other = Job("1.0", "evaluate", files={"b.py": "2", "a.py": "1"})
    assert encode_job(one) == encode_job(other)


def test_a_report_arrives_as_it_was_sent():
    """Evaluation, texts and drawing."""
    evaluation = Evaluation(
        Outcome.OK, fitness=0.1, descriptors={"walls": 3.0}, artifacts={"x": text_id("1")}, seconds=0.25
    )
    report = Report(evaluation, {text_id("1"): "1"}, drawing="<svg/>")
    assert decode_report(encode_report(report)) == report


def test_a_description_arrives_as_it_was_sent():
    """Every field of it."""
    description = Description(("evaluate",), ("certify",), "a cpu, 2 cores", "reduced", "python 3.11", 20.0, "broken")
    assert decode_message(Description, encode_message(description)) == description


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"id":"1","kind":"draw","colour":1}', b"\xff\xfe"])
def test_what_is_no_job_is_refused(data):
    """Truncated, of another shape, or with a field that this version does not know."""
    with pytest.raises(ValueError):
        decode_job(data)


def test_a_report_that_was_tampered_with_is_refused():
    """A fitness beside a failure breaks the evaluation's invariant."""
    data = json.loads(encode_report(Report(Evaluation.wrong(""))))
    data["evaluation"]["fitness"] = 1.0
    with pytest.raises(ValueError, match="exactly when the outcome is OK"):
        decode_report(json.dumps(data).encode())


def test_a_charge_arrives_as_it_was_sent():
    """The task, every mean, and what is hidden."""
    charge = Charge(
        small_task(), Means(namespaces=True, landlock=7, seccomp=True, cgroup="v2"), ("/data/archive", "/data/x.db")
    )
    assert decode_message(Charge, encode_message(charge)) == charge
