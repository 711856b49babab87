"""One evaluation worker as the engine sees it."""

import os
from concurrent.futures import Future
from multiprocessing.connection import Connection

import pytest

from evolve.evaluation.job import Description
from evolve.evaluation.workers import Slot, Submitted


@pytest.fixture
def ends():
    """A slot, and the worker's ends."""
    slot, sock, output = Slot.open(0, 10.0)
    with Connection(sock.detach()) as connection:
        yield slot, connection, output
    slot.close()


def submitted(name="1", data=b"job"):
    return Submitted(name, data, Future())


def test_a_worker_takes_no_job_before_it_has_described_itself(ends):
    """Nor when it is to be killed."""
    slot, _, output = ends
    os.close(output)
    assert not slot.takes(b"job")
    slot.description = Description()
    assert slot.takes(b"job")
    slot.killed = 10.0
    assert not slot.takes(b"job")


def test_a_quick_worker_is_given_one_small_job_ahead(ends):
    """Not a large one, not two, and none where jobs take long: they could wait behind it while another worker idles."""
    slot, _, output = ends
    os.close(output)
    slot.description = Description()
    slot.give(submitted("1"), 20.0)
    assert not slot.takes(b"job")
    slot.pop_answered(20.01)
    slot.give(submitted("2"), 21.0)
    assert slot.takes(b"job")
    assert not slot.takes(b"x" * 100_000)
    slot.give(submitted("3"), 21.0)
    assert not slot.takes(b"job")


def test_jobs_are_answered_in_order_and_timed(ends):
    """The second begins when the first ends."""
    slot, sock, output = ends
    os.close(output)
    slot.give(submitted("1", b"one"), 20.0)
    slot.give(submitted("2", b"two"), 21.0)
    assert [sock.recv_bytes(), sock.recv_bytes()] == [b"one", b"two"]
    assert (slot.pop_answered(25.0).id, slot.lasted, slot.since) == ("1", 5.0, 25.0)
    assert (slot.pop_answered(26.0).id, slot.lasted) == ("2", 1.0)


def test_a_worker_that_is_gone_takes_nothing(ends):
    """The job is among its jobs all the same, to be given to another."""
    slot, sock, output = ends
    os.close(output)
    sock.close()
    with pytest.raises(OSError):
        slot.give(submitted(), 20.0)
    assert [job.id for job in slot.jobs] == ["1"]


def test_the_end_of_what_is_printed_is_kept(ends):
    """Until nothing can follow."""
    slot, _, output = ends
    assert slot.drain_output()
    os.write(output, b"x" * 9000 + b" last\n")
    assert slot.drain_output()
    os.close(output)
    assert not slot.drain_output()
    assert len(slot.printed) == 4096
    assert slot.output_tail.endswith(" last")


def test_a_dismissed_worker_takes_nothing_and_is_told_by_an_empty_frame(ends):
    """It owes nothing, and is late where it does not end."""
    slot, sock, output = ends
    os.close(output)
    slot.description = Description()
    slot.dismiss(22.0)
    assert (sock.recv_bytes(), slot.since, slot.takes(b"job")) == (b"", 22.0, False)


def test_what_a_worker_waits_for_devices_is_not_its_jobs_time(ends):
    """It is given nothing ahead meanwhile: another worker may be free sooner."""
    slot, _, output = ends
    os.close(output)
    slot.description, slot.lasted = Description(), 0.01
    slot.give(submitted("1"), 20.0)
    slot.waiting_since = 21.0
    assert not slot.takes(b"job")
    slot.go_on(51.0)
    assert (slot.takes(b"job"), slot.since) == (True, 50.0)
    slot.pop_answered(53.0)
    assert slot.lasted == 3.0


def test_who_does_not_wait_need_not_go_on(ends):
    """The word is too much, and harmless."""
    slot, _, output = ends
    os.close(output)
    slot.give(submitted("1"), 20.0)
    slot.go_on(25.0)
    assert slot.since == 20.0
