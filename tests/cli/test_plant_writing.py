"""`oasis plant write|audit|site`: nothing is sent that a person or the site file did not approve."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from oasis.agent.folders import audit_folder
from tests.cli.plant_command import plant
from tests.lab.threaded import Place, boiler


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Place]:
    with boiler(tmp_path) as place:
        yield place


def test_without_a_person_at_the_terminal_nothing_is_sent(lab: Place):
    done = plant("write", "set_point", 75, "--site", lab.site)
    assert done.code == 1
    assert "approved by a person at the terminal" in done.error
    assert lab.run.witness.writes == []


def test_yes_does_not_answer_for_a_tag_that_a_person_is_to_approve(lab: Place):
    done = plant("write", "set_point", 75, "--site", lab.site, "--yes")
    assert done.code == 1
    assert "unattended = true" in done.error
    assert lab.run.witness.writes == []


def test_yes_answers_for_a_tag_that_the_site_file_marks(lab: Place):
    done = plant("write", "pump_2_speed", 25, "--site", lab.site, "--yes")
    assert (done.code, done.json["effect"], done.json["read_back"]) == (0, "written", 25.0)
    assert done.json["plan"]["before"] == 0.0
    assert done.json["plan"]["wire"].endswith("0206000100fa")
    assert "limits  0 to 100 %" in done.error
    assert lab.run.witness.counts == {(2, "holding", 1): 1}


def test_several_tags_are_written_in_order_until_one_is_not(lab: Place):
    pairs = ("pump_2_speed", 20, "pump_2_speed", 40, "pump_2_speed", 90, "pump_2_speed", 50)
    done = plant("write", *pairs, "--site", lab.site, "--yes")
    assert done.code == 1
    assert "one write may change it by 25" in done.error
    assert [(row["plan"]["after"], row["effect"]) for row in done.lines] == [(20.0, "written"), (40.0, "written")]
    assert [write.values for write in lab.run.witness.writes] == [(200,), (400,)]


def test_a_tag_without_its_value_is_wrong_usage(lab: Place):
    done = plant("write", "pump_2_speed", 20, "pump_1_speed", "--site", lab.site, "--yes")
    assert (done.code, lab.run.witness.writes) == (2, [])


def test_without_a_site_file_nothing_is_written():
    done = plant("write", "set_point", 75, "--yes")
    assert done.code == 1
    assert "Without a site file nothing is written" in done.error


@pytest.mark.parametrize(
    ("tag", "value", "said"),
    [
        ("pump_2_speed", "200", "the most allowed is 100"),
        ("pump_2_speed", "60", "one write may change it by 25"),
        ("pump_2_speed", "-5", "-5 does not fit into uint16"),
        ("pump_2_speed", "fast", "number is needed, in %"),
        ("pump_2_spede", "20", "Did you mean `pump_2_speed`"),
        ("water", "20", "not to be written"),
    ],
)
def test_what_the_site_file_does_not_allow_is_refused_and_not_sent(lab: Place, tag: str, value: str, said: str):
    done = plant("write", tag, value, "--site", lab.site, "--yes")
    assert done.code == 1
    assert said in done.error
    assert lab.run.witness.writes == []


def test_a_write_that_the_device_rejects_exits_3(lab: Place):
    lab.site.write_text(lab.site.read_text().replace("max = 98", "max = 500").replace("max = 100", "max = 500"))
    lab.site.write_text(lab.site.read_text().replace("max_step = 25", "max_step = 500"))
    done = plant("write", "pump_2_speed", 200, "--site", lab.site, "--yes")
    assert (done.code, done.json["effect"]) == (3, "rejected")
    assert [write.is_executed for write in lab.run.witness.writes] == [False]


def test_a_lost_reply_is_unknown_exits_4_and_is_not_sent_again(lab: Place):
    lab.run.faults.switch_on("lost-reply", 2)
    site = lab.site.read_text()
    lab.site.write_text(site.replace('/2"', '/2?timeout=0.2"'))
    done = plant("write", "pump_2_speed", 25, "--site", lab.site, "--yes")
    assert (done.code, done.json["effect"]) == (4, "unknown")
    assert lab.run.witness.counts == {(2, "holding", 1): 1}


def test_a_device_that_says_it_is_another_one_is_not_written(lab: Place):
    lab.site.write_text(lab.site.read_text().replace("[tags.set_point]", "[tags.set_point]\nunattended = true"))
    lab.run.faults.switch_on("identity", 1)
    done = plant("write", "set_point", 80, "--site", lab.site, "--yes")
    assert done.code == 1
    assert 'says it is "vendor' in done.error
    assert "BK-300" in done.error
    assert lab.run.witness.writes == []


def test_the_report_has_as_found_and_as_left_in_each_form(lab: Place):
    for value in (25, 40):
        plant("write", "pump_2_speed", value, "--site", lab.site, "--yes")
    (row,) = plant("audit", "report").json["tags"]
    assert (row["tag"], row["as_found"], row["as_left"], row["unit"], row["writes"]) == (
        "pump_2_speed",
        0.0,
        40.0,
        "%",
        2,
    )
    table = plant("audit", "report", "--table").out
    assert "pump_2_speed" in table
    assert plant("audit", "report", "--markdown").out.startswith("| Tag | Endpoint |")
    assert plant("audit", "report", "--csv").out.startswith("Tag,Endpoint,Address,As found,As left")
    writes = plant("audit", "report", "--writes").json["writes"]
    assert [(w["before"], w["after"], w["read_back"], w["outcome"]) for w in writes] == [
        (0.0, 25.0, 25.0, "written"),
        (25.0, 40.0, 40.0, "written"),
    ]
    assert not any(isinstance(w[key], str) for w in writes for key in ("before", "after", "read_back"))


def test_a_write_is_taken_back_by_its_id(lab: Place):
    plant("write", "pump_2_speed", 25, "--site", lab.site, "--yes")
    (write,) = plant("audit", "report", "--writes").json["writes"]
    done = plant("audit", "revert", write["id"], "--site", lab.site, "--yes")
    assert (done.code, done.json["read_back"]) == (0, 0.0)
    assert lab.run.witness.last == {(2, "holding", 1): (0,)}


def test_an_edited_audit_is_found(lab: Place):
    plant("write", "pump_2_speed", 25, "--site", lab.site, "--yes")
    assert plant("audit", "verify", "--site", lab.site).json["faults"] == []
    (path,) = audit_folder().glob("*.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"after":25.0', b'"after":24.0'))
    done = plant("audit", "verify", path)
    assert done.code == 1
    assert "was edited" in done.json["faults"][0]
    assert plant("audit", "verify", path, "--table").code == 1


def test_a_sheet_of_an_audit_that_was_edited_says_so_and_exits_3(lab: Place):
    plant("write", "pump_2_speed", 25, "--site", lab.site, "--yes")
    (path,) = audit_folder().glob("*.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"after":25.0', b'"after":24.0'))
    done = plant("audit", "report", "--csv")
    assert (done.code, done.out.count("pump_2_speed")) == (3, 1)
    assert "this sheet may not be true" in done.error


def test_what_was_left_as_it_was_found_can_be_left_out_of_the_sheet(lab: Place):
    plant("write", "pump_2_speed", 25, "--site", lab.site, "--yes")
    assert [row["tag"] for row in plant("audit", "report", "--changed").json["tags"]] == ["pump_2_speed"]
    plant("write", "pump_2_speed", 0, "--site", lab.site, "--yes")
    assert plant("audit", "report", "--changed").json["tags"] == []
    assert plant("audit", "report", "--changed", "--table").out == "Everything was left as it was found.\n"
    assert len(plant("audit", "report").json["tags"]) == 1


def test_a_dry_run_shows_every_plan_and_sends_nothing(lab: Place):
    done = plant("write", "--dry-run", "pump_2_speed", 25, "set_point", 75, "--site", lab.site)
    assert (done.code, [row["plan"]["after"] for row in done.lines]) == (0, [25.0, 75.0])
    assert {row["effect"] for row in done.lines} == {"not sent"}
    assert "wire    00 " in done.error
    assert lab.run.witness.writes == []
    assert plant("write", "--dry-run", "set_point", 99, "--site", lab.site).code == 1


def test_a_value_may_have_the_tag_s_unit_behind_it(lab: Place):
    assert plant("write", "pump_2_speed", "25 %", "--site", lab.site, "--yes").json["read_back"] == 25.0


def test_an_option_that_there_is_none_of_is_not_taken_for_a_value(lab: Place):
    done = plant("write", "--yess", "pump_2_speed", 25, "--site", lab.site)
    assert (done.code, "there is no option --yess" in done.error) == (2, True)


def test_a_missing_end_that_a_session_had_seen_is_found(lab: Place):
    plant("write", "pump_2_speed", 25, "--site", lab.site, "--yes")
    (path,) = audit_folder().glob("*.jsonl")
    *lines, _ = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines))
    assert "missing" in plant("audit", "verify").json["faults"][0]


def test_no_audit_and_several_are_said(lab: Place, tmp_path: Path):
    assert "nothing has been written" in plant("audit", "verify").error
    audit_folder().mkdir(parents=True)
    for name in ("a", "b"):
        (audit_folder() / f"{name}.jsonl").write_text("")
    assert "There are 2 audits; name one" in plant("audit", "verify").error
