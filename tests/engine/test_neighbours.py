"""What the neighbours of a program are known by, from one run to the next."""

import sqlite3
from contextlib import closing

import pytest
from screening_fakes import Oracle, long_task, text

from evolve.campaign.fork import fork, settings_of_fork
from evolve.log import Log
from evolve.types import Asked, Import, Measure, Program, StoreError


@pytest.fixture
def scene(play, tmp_path):
    """A campaign with a threshold and a model that embeds."""
    return play(tmp_path, long_task(distance=0.05), purposes={"embed": "oracle"})


def ask(scene, action):
    """A step that is no proposal."""
    asked = Asked(scene.campaign.state.last_step + 1, action, after=len(scene.campaign.state.history))
    with scene.campaign.log.transaction():
        scene.campaign.write(asked)
    return asked


def test_what_a_person_added_is_a_neighbour(scene):
    """Of the programs of the island that it was added to."""
    added = Program({"seed.py": text({20: "c", 40: "d"})})
    with scene.campaign.log.transaction():
        scene.campaign.log.put_program(added, "added")
    action = Import(added.id, 2)
    scene.settle_work([scene.jobs.addition(ask(scene, action), action)])
    (reason,) = scene.step(text({20: "c", 41: "d"}), island=2)
    assert reason.startswith("not novel: it is near to program 2, ")
    assert scene.step(text({20: "c", 41: "d"}), island=1) == [""]


def test_a_measurement_adds_nothing(scene):
    """Its program has a sketch."""
    before = list(scene.campaign.log.sketches())
    action = Measure(1, scene.campaign.task.seed.id)
    scene.settle_work([scene.jobs.measurement(ask(scene, action), action)])
    assert list(scene.campaign.log.sketches()) == before
    assert len(before) == 1


def test_a_screened_program_is_not_stored(scene):
    """Nor is what it would be found by."""
    scene.step(text({20: "c", 40: "d"}))
    scene.step(text({20: "c", 41: "d"}))
    assert len(list(scene.campaign.log.sketches())) == 2
    assert len(list(scene.campaign.log.vectors("oracle"))) == 1


def test_a_fork_keeps_sketches_and_vectors(scene):
    """They are not made again."""
    scene.step(text({20: "c", 40: "d"}), model=Oracle())
    scene.campaign.operator_names = ("alter",)
    kept = list(scene.campaign.log.sketches()), list(scene.campaign.log.vectors("oracle"))
    path = fork(
        scene.campaign, settings_of_fork(scene.campaign, {"models": {}, "novelty": {}}, []), scene.home, "other"
    )
    with Log.open(path, readonly=True) as log:
        assert (list(log.sketches()), list(log.vectors("oracle"))) == kept
    assert [len(found) for found in kept] == [2, 1]


def test_a_damaged_sketch_is_one_clear_error(scene):
    """It would be near to the wrong programs."""
    path = scene.campaign.log.path
    scene.campaign.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE sketches SET minima = x'00ff'")
        connection.commit()
    with pytest.raises(StoreError, match=r"is damaged: the sketch of program \w+ has 2 bytes. Try: restore"):
        scene.again()
    scene.campaign.close()


def test_a_neighbour_that_has_settled_is_named_by_its_record_at_once(scene):
    """Not only when the turn that settled it is over: two equal runs say the same."""
    remember, scene.recorder.release_durable = scene.recorder.release_durable, lambda: None
    scene.step(text({20: "c", 40: "d"}))
    (reason,) = scene.step(text({20: "c", 41: "d"}))
    assert reason.startswith("not novel: it is near to program 2, ")
    remember()
