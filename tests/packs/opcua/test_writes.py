"""Writes and calls: typed, approved, sent once; the server itself says what it saw."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from asyncua.common.utils import Buffer
from oasis_opcua.driver import OpcUaDriver
from oasis_opcua.untyped import from_binary, ua

from oasis.errors import OasisError
from oasis.plant.driver import Effect
from oasis.plant.plan import approve
from oasis.plant.writer import Writer
from tests.packs.opcua.lines import LINE, Shared
from tests.packs.opcua.sites import site_writer, writer_for, written


@pytest_asyncio.fixture
async def writer(shared: Shared, tmp_path: Path) -> AsyncGenerator[Writer]:
    async with writer_for(shared.url, tmp_path) as made:
        yield made


async def test_a_write_is_sent_once_with_the_nodes_own_type_and_read_back(shared: Shared, writer: Writer):
    before = shared.line.witness.writes
    done = await written(writer, "speed", 25)
    assert (done.effect, done.read_back) == (Effect.WRITTEN, 25.0)
    assert shared.line.witness.writes == before + 1
    assert shared.line.witness.written[-1] == ("ns=2;s=Line1.Conveyor.SpeedSetpoint", 25.0)
    assert done.words.startswith("Written and read back: speed:")


@pytest.mark.parametrize(
    ("tag", "value", "seen"),
    [("heat", 150.5, 150.5), ("dwell", 0.3, 300), ("enabled", False, False), ("enabled", True, True),
     ("text", "Line 1", "Line 1")],
)  # fmt: skip
async def test_each_type_goes_over_as_the_server_wants_it(shared: Shared, writer: Writer, tag: str, value, seen):
    done = await written(writer, tag, value)
    assert done.effect is Effect.WRITTEN
    assert shared.line.witness.written[-1][1] == seen
    assert done.read_back == value


async def test_a_value_outside_the_eurange_is_marked_in_the_plan_and_rejected_by_the_server(
    shared: Shared, writer: Writer
):
    before = shared.line.witness.writes
    plan = await writer.plan("speed", 99.0)
    assert "OUTSIDE its EURange 0 to 60" in plan.frame.words
    done = await writer.carry_out(plan.token, "a test")
    assert done.effect is Effect.REJECTED
    assert "BadOutOfRange: the value is outside the range" in done.words
    assert shared.line.witness.writes == before + 1
    assert done.read_back != 99.0


@pytest.mark.parametrize(
    ("tag", "value", "said"),
    [
        ("measured", 5, "does not let this session write"),
        ("wrong_type", 5, "The site file says Int32"),
        ("recipe", '["Too few"]', "takes 3 arguments, and 1 were given"),
        ("recipe", '["Bad number", -1, 5]', "cannot be written to the argument Number, a UInt16: it holds 0 to 65535"),
    ],
)
async def test_what_a_node_cannot_take_is_refused_before_anything_is_sent(
    shared: Shared, writer: Writer, tag: str, value, said: str
):
    before = (shared.line.witness.writes, shared.line.witness.calls)
    with pytest.raises(OasisError, match=said):
        await writer.plan(tag, value)
    assert (shared.line.witness.writes, shared.line.witness.calls) == before


async def test_a_method_is_called_once_with_typed_arguments(shared: Shared, writer: Writer):
    before = shared.line.witness.calls
    done = await written(writer, "recipe", '["Rolled oats", 9, 450]')
    assert done.effect is Effect.WRITTEN
    assert shared.line.witness.calls == before + 1
    assert shared.line.witness.called[-1] == ("ns=2;s=Line1.SetRecipe", ("Rolled oats", 9, 450.0))
    assert shared.line.content.process.recipe_name == "Rolled oats"


async def test_a_method_that_refuses_is_rejected_with_its_reason(shared: Shared, writer: Writer):
    before = shared.line.witness.calls
    done = await written(writer, "recipe", '["Too heavy", 9, 4500]')
    assert done.effect is Effect.REJECTED
    assert "SetRecipe answered BadOutOfRange" in done.words
    assert shared.line.witness.calls == before + 1


async def test_a_method_without_arguments_is_called_by_writing_true(shared: Shared, writer: Writer):
    done = await written(writer, "start", True)
    assert done.effect is Effect.WRITTEN
    assert shared.line.content.process.is_started
    shared.line.content.process.is_started = False


async def test_no_answer_to_a_write_is_unknown_and_it_is_sent_once(changed: Shared, tmp_path: Path):
    before = changed.line.witness.writes
    async with writer_for(changed.url, tmp_path) as writer:
        done = await written(writer, "heat", 160)
        assert done.effect is Effect.UNKNOWN
        assert changed.line.witness.writes == before + 1
        assert done.read_back == 160.0
        assert "sent once and is not sent again" in done.words
        call = await written(writer, "start", True)
        assert call.effect is Effect.UNKNOWN
        assert changed.line.witness.called[-1] == ("ns=3;s=Line1.Start", ())
        assert len(changed.line.witness.called) == 1


async def test_a_plan_is_void_when_the_server_numbers_its_namespaces_otherwise(
    shared: Shared, changed: Shared, tmp_path: Path
):
    async with writer_for(shared.url, tmp_path) as writer:
        plan = await writer.plan("speed", 30.0)
    before = changed.line.witness.writes
    driver = OpcUaDriver(changed.url)
    try:
        sent = await driver.write(approve(plan, plan.token, "a test", plan.made_at))
    finally:
        await driver.close()
    assert sent.effect is Effect.NOT_SENT
    assert "numbers its namespaces otherwise" in sent.words
    assert changed.line.witness.writes == before


async def test_the_frame_of_a_plan_is_the_request_the_server_reads(shared: Shared, writer: Writer):
    plan = await writer.plan("speed", 31.5)
    (node,) = from_binary(ua.WriteParameters, Buffer(plan.frame.wire)).NodesToWrite
    assert node.NodeId.to_string() == "ns=2;s=Line1.Conveyor.SpeedSetpoint"
    assert (node.Value.Value.Value, node.Value.Value.VariantType) == (31.5, ua.VariantType.Double)
    assert f"now {LINE};s=Line1.Conveyor.SpeedSetpoint, as Double 31.5" in plan.frame.words


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (f"history {LINE};s=Line1.State", "only values, elements of arrays and methods can"),
        (f"{LINE};s=Line1.Checkweigher.Limits [0-1]", "give each element its own tag"),
    ],
)
def test_the_past_and_a_row_of_elements_are_no_tags_to_write(address: str, said: str):
    driver = OpcUaDriver("opc.tcp://127.0.0.1")
    with pytest.raises(OasisError, match=said):
        driver.check_writable(driver.point(address))


async def test_an_element_of_an_array_is_written_by_index_range_and_the_others_stay(shared: Shared, writer: Writer):
    plan = await writer.plan("most_weight", 512.5)
    assert "(element 1 of 2, by IndexRange)" in plan.frame.words
    done = await writer.carry_out(plan.token, "a test")
    assert (done.effect, done.read_back) == (Effect.WRITTEN, 512.5)
    assert _limits(shared) == [490.0, 512.5]


async def test_an_array_is_written_as_a_whole_from_the_lists_of_the_site_file(shared: Shared, tmp_path: Path):
    lists = ["[495, 505.5]", "[1, 2, 3]"]
    tag = {"address": f"array {LINE};s=Line1.Checkweigher.Limits", "type": "String", "write": True, "values": lists}
    async with site_writer(shared.url, {"both_weights": tag}, tmp_path) as writer:
        await _check_whole(shared, writer)


async def _check_whole(shared: Shared, writer: Writer) -> None:
    done = await written(writer, "both_weights", "[495, 505.5]")
    assert (done.effect, done.read_back) == (Effect.WRITTEN, "[495, 505.5]")
    assert _limits(shared) == [495.0, 505.5]
    with pytest.raises(OasisError, match="has 2 elements, and 3 were given"):
        await writer.plan("both_weights", "[1, 2, 3]")


@pytest.mark.parametrize(
    ("tag", "value", "said"),
    [
        ("no_element", 5, r"no such element: the array has 2"),
        ("no_array", 5, "this value is no array"),
        ("status", "x", r"a structure, which Oasis does not write.*Write its parts"),
    ],
)
async def test_what_is_no_element_and_structures_are_refused_with_what_to_do(
    shared: Shared, tmp_path: Path, tag: str, value: object, said: str
):
    number = {"write": True, "min": 0, "max": 10, "max_step": 1000}
    tags = {
        "no_element": {"address": f"{LINE};s=Line1.Checkweigher.Limits [2]", "type": "Float", **number},
        "no_array": {"address": f"{LINE};s=Line1.Sealer.DwellMilliseconds [0]", "type": "UInt16", **number},
        "status": {"address": "i=2256", "type": "String", "write": True, "values": ["x"]},
    }
    before = shared.line.witness.writes
    async with site_writer(shared.url, tags, tmp_path) as writer:
        with pytest.raises(OasisError, match=said):
            await writer.plan(tag, value)
    assert shared.line.witness.writes == before


def test_an_element_and_the_array_it_is_of_are_the_same_cells():
    driver = OpcUaDriver("opc.tcp://127.0.0.1")
    one, two, whole = (
        driver.cells(driver.point(text)) for text in ("nsu=u;s=A [0]", "nsu=u;s=A [1]", "array nsu=u;s=A")
    )
    assert (one & two, one & whole, two & whole) == (frozenset(), one, two)


def _limits(shared: Shared) -> list[float]:
    node = shared.line.server.get_node("ns=2;s=Line1.Checkweigher.Limits")
    return shared.run(node.read_value())
