"""One judge worker as the engine sees it."""

import os
from concurrent.futures import Future

import pytest

from evolve.evaluation.framing import receive_frame, send_frame
from evolve.evaluation.job import Description
from evolve.evaluation.slot import Slot, Submitted


@pytest.fixture
def ends():
    """A slot, and the worker's ends."""
    slot, sock, output = Slot.open(0, 10.0)
    with sock:
        yield slot, sock, output
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
    slot.late = True
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
    assert [receive_frame(sock), receive_frame(sock)] == [b"one", b"two"]
    assert (slot.pop_answered(25.0).id, slot.lasted, slot.since) == ("1", 5.0, 25.0)
    assert (slot.pop_answered(26.0).id, slot.lasted) == ("2", 1.0)


def test_frames_are_heard_until_the_worker_ends(ends):
    """What it said last is not lost."""
    slot, sock, output = ends
    os.close(output)
    assert slot.listen() == ([], True)
    send_frame(sock, b"one")
    send_frame(sock, b"two")
    sock.close()
    assert slot.listen() == ([b"one", b"two"], False)


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


def test_a_retired_worker_takes_nothing_and_is_told_when_it_may_end(ends):
    """By the end of file; what it has been given is answered before."""
    slot, sock, output = ends
    os.close(output)
    slot.description = Description()
    slot.give(submitted("1", b"one"), 20.0)
    slot.retired = True
    assert not slot.takes(b"job")
    assert (slot.pop_answered(21.0).id, slot.evaluated, slot.takes(b"job")) == ("1", 1, False)
    slot.dismiss(22.0)
    assert (receive_frame(sock), receive_frame(sock), slot.since) == (b"one", None, 22.0)


def test_what_a_worker_waits_for_devices_is_not_its_jobs_time(ends):
    """It is given nothing ahead meanwhile: another worker may be free sooner."""
    slot, _, output = ends
    os.close(output)
    slot.description, slot.lasted = Description(), 0.01
    slot.give(submitted("1"), 20.0)
    slot.waits(21.0)
    assert not slot.takes(b"job")
    slot.goes_on(51.0)
    assert (slot.takes(b"job"), slot.since) == (True, 50.0)
    slot.pop_answered(53.0)
    assert slot.lasted == 3.0


def test_who_does_not_wait_need_not_go_on(ends):
    """The word is too much, and harmless."""
    slot, _, output = ends
    os.close(output)
    slot.give(submitted("1"), 20.0)
    slot.goes_on(25.0)
    assert slot.since == 20.0
