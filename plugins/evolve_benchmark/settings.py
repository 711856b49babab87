"""Settings that a task writes beside `plugin = "benchmark"`. One that the mode has no use for is an error here, before anything is made."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

QUALITY, TIMED, SPEED = "quality", "quality at time", "speed"
_OF_QUALITY = ("better", "mean", "seconds", "start", "late")
_OF_SPEED = ("clock", "pairs_first", "pairs_most", "floor", "shared")


class BenchmarkSettings(BaseModel):
    """Settings by which a function is asked, and its answers become a score."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # Without an example: the file lies in a task's folder, so that `evolve plugin check` has none to try.
    module: str = Field(
        min_length=1,
        description="the file of the task's folder that makes instances and values answers",
    )
    function: str = Field(default="solve", min_length=1, description="the program's function that is called with each")
    mode: Literal["quality", "quality at time", "speed"] = Field(
        default="quality",
        description='`"quality"`: the stage\'s time is all that limits a call; `"quality at time"`: each call has a limit of its own; `"speed"`: how many times as fast as the seed',
    )
    better: Literal["larger", "smaller"] = Field(default="larger", description="which values of answers are better")
    mean: Literal["arithmetic", "geometric", "harmonic"] = Field(
        default="arithmetic",
        description="how the scores of the instances become one; with several kinds of instances, within each kind and then over the kinds",
    )
    at_most: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description='the largest score that an instance can have, such as 1.0 where the reference is proven: beyond it the program is `wrong`. In the mode `"speed"` the most times as fast as the seed that a kind can be',
    )
    seconds: float | None = Field(
        default=None,
        gt=0,
        allow_inf_nan=False,
        description='the wall time of a call in the mode `"quality at time"`; no other mode has it',
    )
    start: float = Field(
        default=2.0,
        gt=0,
        allow_inf_nan=False,
        description="the wall time of the first call of a process, which imports the program and does not count, where calls have a limit",
    )
    late: float = Field(
        default=0.2,
        ge=0,
        lt=1,
        description="the share of calls that may be late; with more of them the program is `timed_out`",
    )
    recall: int = Field(
        default=3,
        ge=0,
        description='how many questions of a deterministic task, or of the mode `"speed"`, are asked again, in another process and order: an answer of another value is `wrong`',
    )
    clock: Literal["cpu", "wall"] = Field(
        default="cpu",
        description='what counts in the mode `"speed"`: `"cpu"`, the processor time of all threads together; `"wall"`, for programs that may use several',
    )
    pairs_first: int = Field(
        default=8,
        ge=4,
        multiple_of=2,
        description='after how many pairs of every instance the mode `"speed"` looks first whether candidate or seed is faster; two pairs, in both orders, are one value',
    )
    pairs_most: int = Field(default=20, multiple_of=2, description="how many there are at most")
    shared: bool = Field(
        default=False,
        description='in the mode `"speed"`: arguments are arrays in memory that is shared with the program, which fills its first argument with the answer; else the time has in it what it takes to hand both over',
    )
    floor: float = Field(
        default=0.02,
        ge=0,
        allow_inf_nan=False,
        description="a difference in the logarithm of the time that does not matter: no more pairs are measured where it is known to be smaller",
    )

    @model_validator(mode="after")
    def _fits_together(self) -> "BenchmarkSettings":
        if self.mode == TIMED and self.seconds is None:
            raise ValueError('mode "quality at time" limits each call: write seconds, such as seconds = 0.05')
        if self.mode == QUALITY and self.seconds is not None:
            raise ValueError('mode "quality" limits no call: leave seconds out, or write mode = "quality at time"')
        idle = [name for name in (_OF_QUALITY if self.mode == SPEED else _OF_SPEED) if self._is_set(name)]
        if idle:
            raise ValueError(f'mode "{self.mode}" has no use for {" and ".join(idle)}: leave that out')
        if self.pairs_most < self.pairs_first:
            raise ValueError(
                f"pairs_most is {self.pairs_most}, fewer than pairs_first, {self.pairs_first}: write as many or more"
            )
        return self

    def _is_set(self, name: str) -> bool:
        return bool(getattr(self, name) != type(self).model_fields[name].default)
