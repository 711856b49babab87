"""Settings that a task writes beside `plugin = "kernel"`.

Settings that pass can be used on a machine that has the language's compiler or device."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Language = Literal["c", "c++", "triton", "cuda"]
COMPILED_HERE: tuple[Language, ...] = ("c", "c++")
"""Languages whose programs run on the processor."""


class KernelSettings(BaseModel):
    """Settings by which a kernel is built, called, timed and compared."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # Without examples: the files lie in a task's folder, so that `evolve plugin check` has none to try.
    module: str = Field(
        min_length=1, description="the file of the task's folder that makes inputs and knows the answers"
    )
    function: str = Field(
        pattern=r"^[A-Za-z_]\w*$", description="the function that is timed, and the only symbol of its object"
    )
    header: str = Field(default="", description="the file of `program.context` that declares it, for C and C++")
    language: Language = Field(default="c", description='what it is written in: `"c"`, `"c++"`, `"triton"` or `"cuda"`')
    functions: tuple[str, ...] = Field(
        default=(),
        description="what it may call of the C and mathematical libraries, such as `expf`, beside memcpy, memmove and memset",
    )
    flags: tuple[str, ...] = Field(
        default=(),
        description="flags of the compiler beside the evaluator's own, for every program of the task",
    )
    first: int = Field(default=4, ge=2, description="rounds before it is looked at whether the speeds differ")
    rounds: int = Field(default=8, ge=2, description="rounds at most, and in each confirmation and held-out case")
    floor: float = Field(
        default=0.01,
        ge=0,
        allow_inf_nan=False,
        description="the difference of ln(speed-up) below which two programs are equally fast, for the decision to stop measuring",
    )
    seconds: float = Field(default=2.0, gt=0, allow_inf_nan=False, description="wall time of one call")

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.language in COMPILED_HERE and not self.header:
            raise ValueError(
                f"language {self.language!r} needs a header that declares the function: name that file of program.context as `header`"
            )
        if self.first > self.rounds:
            raise ValueError(f"the first {self.first} rounds are more than all {self.rounds}: write a smaller first")
        return self
