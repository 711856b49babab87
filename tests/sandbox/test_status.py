"""How a session ends, as values."""

from evolve.sandbox import SessionFailed, Status


def test_a_failure_reads_as_its_status_and_message() -> None:
    """What a log line shows."""
    failure = SessionFailed(Status.SIGNAL, "ended by signal 11", 11)
    assert (str(failure), failure.signal) == ("signal: ended by signal 11", 11)
