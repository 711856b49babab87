"""Settings of the evaluator `recipe`: `evaluator = { plugin = "recipe", seconds = 2.0, ... }`."""

from pydantic import BaseModel, ConfigDict, Field


class RecipeSettings(BaseModel):
    """Budgets hold for one training: an evaluation has as many of them as folds times `repeats`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    problem: str = Field(default="problem.py", description="the file of the task's folder that has the data")
    seconds: float = Field(default=2.0, gt=0, le=3600, description="wall time of one training, with its start")
    predict_seconds: float = Field(default=2.0, gt=0, le=3600, description="wall time of one process that predicts")
    samples: int = Field(
        default=0, ge=0, description="how many samples a training is served at most; 0: all that there are, once"
    )
    first: int = Field(
        default=256, ge=1, description="of a budget of samples, how many it is served before it asks for more"
    )
    model_bytes: int = Field(default=4 << 20, ge=1, le=7 << 20, description="the largest model that it may leave")
    repeats: int = Field(default=2, ge=1, le=100, description="trainings on each fold, with seeds of their own")
    seeds: int = Field(default=4, ge=1, le=1000, description="sets of seeds; for each the baseline is trained once")
