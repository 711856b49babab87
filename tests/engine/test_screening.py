"""What is evaluated, and what is not, for which reason."""

import pytest
from screening_fakes import LINES, Oracle, long_task, text

from evolve import report, wording
from evolve.edits import EditFailed, EditKind
from evolve.types import Child, EditError, ModelDown, ModelError, ModelGone, Program, Unaffordable


@pytest.fixture
def scene(play, tmp_path):
    """A campaign with a threshold of one word in 200 and a bit."""
    return play(tmp_path, long_task(distance=0.05))


def both(first: str, second: str) -> str:
    """Two changes, one in the middle and one at the end."""
    return text({30: first, 53: second})


def near(record: int) -> str:
    """How the reason begins."""
    return f"not novel: it is near to program {record}, at a distance of "


def test_without_a_threshold_everything_is_judged(play, tmp_path):
    """But for duplicates; no sketch is made."""
    scene = play(tmp_path, long_task())
    assert scene.step(text({3: "c"})) == [""]
    assert scene.step(text({3: "d"})) == [""]
    assert scene.step(text({3: "d"})) == ["duplicate of program 3"]
    assert list(scene.campaign.log.sketches()) == []


def test_a_child_that_is_near_to_a_sibling_is_not_judged(scene):
    """The reason names the record, the distance, and what is wanted."""
    assert scene.step(both("c", "d")) == [""]
    (reason,) = scene.step(both("c", "e"))
    assert reason == f"{near(2)}0.0235, and 0.05 is wanted"


def test_a_child_may_be_near_to_its_parent(scene):
    """That is what an edit is."""
    assert scene.step(text({3: "c"})) == [""]
    assert scene.step(text({3: "c", 4: "d"}), parents=(2,)) == [""]
    assert scene.step(text({3: "c", 4: "e"}), parents=(2, 3)) == [""]
    (reason,) = scene.step(text({3: "c", 4: "f"}), parents=(1,))
    assert reason.startswith("not novel: it is near to program ")


def test_numbers_of_a_parent_may_be_tuned(scene):
    """A sketch does not see them; the same numbers again are a duplicate."""
    assert scene.step(text({3: "1.5", 40: "c"})) == [""]
    assert scene.step(text({3: "2.5", 40: "c"}), parents=(2,)) == [""]
    assert scene.step(text({3: "3.5", 40: "c"}), parents=(2,)) == [""]
    assert scene.step(text({3: "3.5", 40: "c"}), parents=(2,)) == ["duplicate of program 4"]
    (reason,) = scene.step(text({3: "4.5", 40: "c"}), parents=(1,))
    assert reason == "not novel: it is near to program 2, at a distance of 0, and 0.05 is wanted"


def test_only_what_a_model_writes_is_held_against_its_neighbours(scene):
    """What others make is a neighbour nevertheless."""
    assert scene.step(both("c", "d"), by="alter") == [""]
    assert scene.step(both("c", "e"), by="alter") == [""]
    (reason,) = scene.step(both("c", "f"))
    assert reason.startswith("not novel: it is near to program ")


def test_a_repair_may_be_near_to_what_failed_before(scene):
    """One word may be all that was wrong; it is a neighbour of others."""
    assert scene.step(both("c", "d")) == [""]
    assert scene.step(both("c", "e"), by="mend") == [""]
    assert scene.step(both("c", "e"), by="mend") == ["duplicate of program 3"]


def test_islands_are_for_themselves(scene):
    """The seed is on all of them."""
    assert scene.step(both("c", "d"), island=0) == [""]
    assert scene.step(both("c", "e"), island=1) == [""]
    assert scene.step(text(dict.fromkeys(range(LINES), "g")), island=2) == [""]
    (reason,) = scene.step(text({30: "c"}), island=2, parents=(4,))
    assert reason.startswith(near(1))


def test_a_far_child_is_judged(scene):
    """Whatever it has in common."""
    assert scene.step(both("c", "d")) == [""]
    assert scene.step(text(dict.fromkeys(range(20), "c"))) == [""]


def test_children_of_one_step_are_compared_with_each_other(scene):
    """Equal ones before anybody is asked; the first one is evaluated."""
    reasons = scene.step(both("c", "d"), both("c", "d") + "# why\n", both("c", "e"), text(dict.fromkeys(range(9), "g")))
    assert sorted(reasons) == sorted(
        [
            "",
            "duplicate of a program that is being evaluated (but for spacing and comments)",
            "not novel: it is near to a program that is being evaluated, at a distance of 0.0235, and 0.05 is wanted",
            "",
        ]
    )


def test_two_that_are_under_way_are_compared_with_each_other(scene):
    """Near ones in their threads, and equal ones when they settle, too."""
    one = scene.draft(both("c", "d"))
    _, (other,) = scene.draft(both("c", "e"))
    assert other.refusal.why.startswith("not novel: it is near to a program that is being evaluated")
    tuned = [scene.draft(text({7: number})) for number in ("1.5", "1.5", "1.5 ")]
    assert [draft.refusal for _, (draft,) in tuned] == [None, None, None]
    scene.settle(*one)
    reasons = [scene.reason(record) for step in tuned for record in scene.settle(*step)]
    assert reasons == ["", "duplicate of program 3", "duplicate of program 3 (but for spacing and comments)"]


def test_a_campaign_has_the_last_word_on_the_threshold(play, tmp_path):
    """0 turns the task's off."""
    scene = play(tmp_path, long_task(distance=0.05), distance=0.0)
    assert scene.step(both("c", "d"), both("c", "e")) == ["", ""]
    other = play(tmp_path / "other", long_task(), distance=0.05)
    assert [bool(reason) for reason in other.step(both("c", "d"), both("c", "e"))] == [True, False]


def test_what_was_proposed_is_known_in_the_next_run(scene):
    """From the log, with the islands of the programs."""
    assert scene.step(both("c", "d")) == [""]
    assert len(list(scene.campaign.log.sketches())) == 2
    scene.again()
    (reason,) = scene.step(both("c", "e"))
    assert reason.startswith(near(2))
    assert scene.step(both("c", "e"), island=1) == [""]


def test_two_campaigns_agree(play, tmp_path):
    """With the same steps: in what is evaluated, in reasons, and in whom they name."""
    digests = []
    for name in "ab":
        scene = play(tmp_path / name, long_task(distance=0.05))
        for number in range(12):
            scene.step(both("c", "defg"[number % 4]), text({number: "h"}), island=number % 2)
        digests.append(scene.campaign.digest())
    assert digests[0] == digests[1]


def test_programs_without_a_sketch_in_the_log_are_neighbours(play, tmp_path):
    """Of a campaign that was without a threshold."""
    scene = play(tmp_path, long_task())
    assert scene.step(both("c", "d")) == [""]
    assert list(scene.campaign.log.sketches()) == []
    scene.novelty = {"distance": 0.05}
    scene.again()
    (reason,) = scene.step(both("c", "e"))
    assert reason.startswith(near(2))


# --- the novelty model


@pytest.fixture
def asking(play, tmp_path):
    """A campaign with a novelty model, and one program that others may be near to."""
    scene = play(tmp_path, long_task(distance=0.05), purposes={"novelty": "oracle"})
    assert scene.step(both("c", "d")) == [""]
    return scene


@pytest.mark.parametrize("answer", ["yes", "Yes.", " **yes**\n", "`YES`"])
def test_what_the_novelty_model_finds_different_is_judged(asking, answer):
    """It is asked once, and sees both."""
    oracle = Oracle(answer)
    assert asking.step(both("c", "e"), model=oracle) == [""]
    (prompt,) = oracle.asked
    assert "-x53 = f53(a53, d)\n+x53 = f53(a53, e)" in prompt.messages[1].text


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("no", "the novelty model oracle finds no meaningful difference"),
        ("Yes, for", "the novelty model oracle answered neither yes nor no: “Yes, for”"),
        ("", "the novelty model oracle answered neither yes nor no: nothing"),
        (ModelError("it was cut off"), "the novelty model failed: it was cut off"),
        (ModelDown("503"), "the novelty model failed: 503"),
        (ModelGone("no key"), "the novelty model failed: no key"),
        (Unaffordable("3 calls left"), "the novelty model failed: 3 calls left"),
    ],
)
def test_without_a_yes_the_threshold_alone_decides(asking, answer, told):
    """And the reason says what the model did."""
    (reason,) = asking.step(both("c", "e"), model=Oracle(answer))
    assert reason.startswith(near(2))
    assert reason.endswith(f"is wanted; {told}")


def test_a_difference_that_is_too_long_is_not_asked_about(asking):
    """No call is paid for nothing."""
    oracle = Oracle()
    oracle.context_tokens = 200
    (reason,) = asking.step(both("c", "e"), model=oracle)
    assert reason.endswith("the novelty model oracle was not asked, for the difference is too long for it")


def test_nobody_is_asked_about_what_is_far_or_known(asking):
    """Each call costs."""
    oracle = Oracle()
    assert asking.step(text(dict.fromkeys(range(30), "g")), model=oracle) == [""]
    assert asking.step(both("c", "d"), model=oracle) == ["duplicate of program 2"]
    assert asking.step(text(), model=oracle) == ["evolve.operators: no-op: it reads the same as its parent"]
    assert oracle.asked == []


def test_a_program_that_is_being_judged_can_be_asked_about(asking):
    """Its text is not in the log yet."""
    oracle = Oracle("yes")
    first, second = text(dict.fromkeys(range(20), "h")), text(dict.fromkeys(range(20), "h") | {50: "i"})
    assert asking.step(first, second, model=oracle) == ["", ""]
    assert "+x50 = f50(a50, i)" in oracle.asked[0].messages[1].text


class Meanwhile(Oracle):
    """A model that takes so long that another step is proposed and settles before it answers."""

    def __init__(self, scene, child, *answers):
        super().__init__(*answers)
        self.scene, self.child, self.reasons = scene, child, []

    def complete(self, prompt, samples=1):
        if not self.reasons:
            self.reasons = ["under way"]
            self.reasons = self.scene.step(self.child, model=self)
        return super().complete(prompt, samples)


def test_what_settles_while_a_model_is_asked_is_compared_when_the_other_settles(asking):
    """Equal programs are evaluated once, near ones as the models say."""
    twin = Meanwhile(asking, both("c", "e"), "yes", "yes")
    assert asking.step(both("c", "e"), model=twin) == ["duplicate of program 3"]
    assert twin.reasons == [""]
    other = Meanwhile(asking, both("c", "f"), "yes", "yes")
    assert asking.step(both("c", "g"), model=other) == [""]
    assert other.reasons == [""]


# --- embeddings


@pytest.fixture
def embedding(play, tmp_path):
    """A campaign with a model that embeds, and no threshold for distances."""
    return play(tmp_path, long_task(), purposes={"embed": "oracle"})


def test_a_child_whose_embedding_is_near_is_not_judged(embedding):
    """Its vector is compared with those of its island."""
    oracle = Oracle(vectors={"up": (0.0, 1.0), "aslant": (0.1, 1.0)})
    assert embedding.step(text({3: "up"}), model=oracle) == [""]
    assert embedding.step(text({3: "level"}), model=oracle) == [""]
    (reason,) = embedding.step(text({3: "aslant"}), model=oracle)
    assert reason == "not novel: it is near to program 2, with a cosine of 0.995, and less than 0.99 is wanted"
    assert embedding.step(text({3: "aslant"}), model=oracle, island=1) == [""]
    assert embedding.step(text({3: "aslant", 9: "more"}), model=oracle, parents=(2,)) == [""]
    assert oracle.embedded[0].startswith("seed.py\nx0 = ")


def test_vectors_are_in_the_log(embedding):
    """The next run has them; those of another model are another thing."""
    oracle = Oracle(vectors={"up": (0.0, 1.0)})
    assert embedding.step(text({3: "up"}), model=oracle) == [""]
    embedding.again()
    (reason,) = embedding.step(text({5: "up"}), model=oracle)
    assert "near to program 2, with a cosine of 1, " in reason
    embedding.purposes = {"embed": "another"}
    assert embedding.again().step(text({5: "up"}), model=oracle) == [""]


def test_a_call_that_fails_leaves_the_child_to_the_judge(embedding):
    """Without a vector."""
    oracle = Oracle(vectors={"c": ModelError("busy"), "d": Unaffordable("nothing left")})
    assert embedding.step(text({3: "c"}), text({3: "d"}), model=oracle) == ["", ""]
    assert list(embedding.campaign.log.vectors("oracle")) == []


def test_only_what_a_model_writes_is_embedded(embedding):
    """Each call costs."""
    oracle = Oracle()
    assert embedding.step(text({3: "c"}), by="alter", model=oracle) == [""]
    assert oracle.embedded == []


def test_a_child_is_asked_about_once(play, tmp_path):
    """However many of its neighbours are near."""
    scene = play(tmp_path, long_task(distance=0.05), purposes={"novelty": "oracle", "embed": "oracle"})
    oracle = Oracle("yes", "no")
    assert scene.step(both("c", "d"), model=oracle) == [""]
    assert scene.step(both("c", "e"), model=oracle) == [""]
    (reason,) = scene.step(text(dict.fromkeys(range(30), "g")), model=oracle)
    assert reason.endswith("is wanted; the novelty model oracle finds no meaningful difference")
    assert (len(oracle.asked), len(oracle.embedded)) == (2, 3)


# --- models that fail


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ModelError("the reply was cut off"), "model failed: the reply was cut off"),
        (ModelDown("connection refused"), "model failed: connection refused"),
        (EditError("nothing to change"), "nothing to change"),
    ],
)
def test_a_call_that_failed_is_a_screened_record(scene, error, reason):
    """With its reason."""
    assert scene.step(error=error) == [reason]


@pytest.mark.parametrize("error", [ModelGone("its key was refused"), Unaffordable("the budget is spent")])
def test_a_model_that_is_gone_is_no_fault_of_the_proposal(scene, error):
    """The step waits for a later run."""
    with pytest.raises(type(error), match=str(error)):
        scene.draft(error=error)


EXTRA = Child(Program({"seed.py": text({9: "c"}), "more.py": ""}))


@pytest.mark.parametrize(
    ("proposed", "code"),
    [
        (text({}) + "# more\n", "no_op"),
        (both("c", "d") + "# why\n", "duplicate"),
        (both("c", "e"), "near"),
        ([EXTRA], "outside"),
        ([Child(None, "I cannot")], "no_program"),
        ([Child(None, "I cannot", refusal="lost_heart")], "lost_heart"),
        (EditFailed(EditKind.NO_EDIT, "there is none"), "no_edit"),
        (EditError("no number"), "nothing"),
        (ModelError("no answer"), "model_failed"),
        (ZeroDivisionError("oops"), "plugin_failed"),
        ([Child(None, "I cannot", refusal="Lost heart!")], "plugin_failed"),
        ([Child(None, "I cannot", call=-2)], "plugin_failed"),
    ],
)
def test_every_reason_has_its_code(scene, proposed, code):
    """A duplicate, a near one and a no-op say which program they resemble."""
    assert scene.step(both("c", "d")) == [""]
    step = scene.draft(proposed) if isinstance(proposed, str) else scene.draft(error=proposed)
    (number,) = scene.settle(*step)
    event = scene.campaign.log.settled(number)
    record = event.record
    assert wording.outcome(report.record_line(scene.campaign, event)) == f"screened: {code}"
    resembles = {"no_op": 1, "duplicate": 2, "near": 2}.get(code, 0)
    assert (record.refusal, scene.campaign.log.first_record(record.resembles or "")) == (code, resembles)


def test_what_a_plugin_screens_has_its_code(scene, monkeypatch):
    """Whatever it says."""
    monkeypatch.setattr(type(scene.campaign.plugins), "screen", lambda *_: "mine: it is too long")
    (number,) = scene.settle(*scene.draft(both("c", "d")))
    assert scene.campaign.log.settled(number).record.refusal == "screened"
