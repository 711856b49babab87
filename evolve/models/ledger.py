"""Payment of calls of models from a campaign's budget: the most that a call may cost is reserved before it is sent, and its actual cost
takes the place of that afterwards. Any thread may call.

Spent and reserved costs together never overshoot the budget when a call is let through. So it is never overshot, however many calls are in
flight, as long as none costs more than was reserved for it; where one does, its whole cost counts, and no other is let through that does
not fit beside it."""

import threading
from collections import deque
from dataclasses import dataclass

from evolve.models.prices import Cost, sum_costs
from evolve.stop import Amount, Budget, spelled
from evolve.types import ModelError, Progress, Unaffordable

PULSE = 0.1
"""Seconds at most until a call that waits for others sees that the run was cancelled."""


@dataclass(frozen=True, slots=True, eq=False)
class Reservation:
    """Amount that is set aside for a call in flight; equal to itself alone."""

    worst: Cost


class Ledger:
    """Account of one run. `progress` is what was spent when it began; seconds and programs are not followed from there on, for no call spends them.
    Calls are let through in the order in which they came, so that none waits for ever while smaller ones pass it."""

    def __init__(self, budget: Budget, progress: Progress) -> None:
        self._budget = budget
        self._spent = progress
        self._in_flight: set[Reservation] = set()
        self._queue: deque[Reservation] = deque()
        self._changed = threading.Condition()
        self._wanted: Progress | None = None

    @property
    def spent(self) -> Progress:
        """Amounts spent before the run, and by every call that has been settled since."""
        with self._changed:
            return self._spent

    @property
    def reserved(self) -> Cost:
        """Amounts that the calls in flight may cost together."""
        with self._changed:
            return self._set_aside()

    @property
    def wanted(self) -> Progress | None:
        """Progress with the last call that the budget did not pay for; None where it paid for all."""
        with self._changed:
            return self._wanted

    def change(self, budget: Budget) -> None:
        """Takes another budget; calls that wait are looked at again."""
        with self._changed:
            self._budget = budget
            self._changed.notify_all()

    def reserve(self, worst: Cost, cancelled: threading.Event) -> Reservation:
        """Sets aside the most that a call may cost; waits as long as calls in flight may cost less than was set aside for them.

        Raises `Unaffordable` when nothing is in flight and it does not fit, and `ModelError` soon after `cancelled` is set."""
        wanted = Reservation(worst)
        with self._changed:
            self._queue.append(wanted)
            try:
                self._wait(wanted, cancelled)
            finally:
                self._queue.remove(wanted)
                self._changed.notify_all()
            self._in_flight.add(wanted)
        return wanted

    def settle(self, reservation: Reservation, actual: Cost) -> None:
        """Replaces the reservation of a call that has ended by its actual cost; once for each."""
        with self._changed:
            # In one step: between the two, a call that does not fit could be let through.
            self._in_flight.remove(reservation)
            self._spent = actual.after(self._spent)
            self._changed.notify_all()

    def _wait(self, wanted: Reservation, cancelled: threading.Event) -> None:
        while not cancelled.is_set():
            # First come, first served: a large call would starve if small ones went past it.
            if self._queue[0] is wanted:
                if self._fits(wanted.worst):
                    return
                if not self._in_flight:
                    self._wanted = wanted.worst.after(self._spent)
                    raise Unaffordable(_explain_refusal(self._budget, self._spent, wanted.worst))
            self._changed.wait(PULSE)
        raise ModelError("the run ended before the call was sent")

    def _fits(self, worst: Cost) -> bool:
        return self._budget.affords(self._set_aside().plus(worst).after(self._spent))

    def _set_aside(self) -> Cost:
        # Added up anew: what is added and taken away again in floating point would leave something behind.
        return sum_costs(reservation.worst for reservation in self._in_flight)


def _explain_refusal(budget: Budget, spent: Progress, worst: Cost) -> str:
    """Tells what a call may take, and what is left, of everything that it would overshoot."""
    amounts = [leaf for leaf in budget.leaves() if isinstance(leaf, Amount)]
    short = [amount for amount in amounts if not amount.affords(worst.after(spent))]
    told = ", ".join(f"{_format_need(amount, worst)} (left: {amount.remaining(spent, None, 0.0)})" for amount in short)
    return (
        f"the budget {budget} does not pay for one more call: it may take {told}. "
        "Try: give a larger budget, with evolve run --continue NAME --budget, or begin a campaign with shorter prompts, or a smaller max_tokens of the model"
    )


def _format_need(amount: Amount, worst: Cost) -> str:
    return spelled(amount.unit.resource, amount.counted(worst.after(Progress())))
