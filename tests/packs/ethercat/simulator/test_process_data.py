"""FMMUs, bit packing and working counters of simulated slaves."""

from oasis_ethercat.esc import Command, Register

from tests.packs.ethercat.simulator.frames import Wire


def test_two_slaves_of_four_bits_share_a_byte():
    wire = Wire("do4", "do4")
    wire.run(1)
    wire.run(2, first_bit=4)
    wire.exchange(0, b"\x21")
    wire.segment.advance()
    assert [name for slave in wire.slaves for name, on in slave.process.outputs().items() if on] == [
        "Output 1",
        "Output 2",
    ]


def test_a_read_leaves_the_neighbours_bits_alone():
    wire = Wire("di4")
    wire.run(1, first_bit=2)
    wire.slaves[0].objects.put(0x6000, True, 1)
    wire.slaves[0].process.refresh()
    assert wire.exchange(0x100, b"\xc3") == (b"\xc7", 1)


def test_the_counter_grows_by_one_for_inputs_and_two_for_outputs():
    wire = Wire("coupler", "di8", "do8", "drive")
    wire.run(2, logical=0)
    wire.run(3, logical=1)
    wire.run(4, logical=2)
    assert wire.exchange(0, bytes(0x100 + 20))[1] == 1 + 2 + 3


def test_a_datagram_that_ends_within_an_fmmu_gets_the_part_that_fits():
    wire = Wire("drive")
    wire.run(1)
    data, counter = wire.exchange(0x100, bytes(2))
    assert (data, counter) == (b"\x50\x02", 1)


def test_a_broadcast_read_ors_what_all_slaves_have():
    wire = Wire("do8", "do8")
    wire.request(2, 2)
    assert wire.send(Command.BRD, 0, Register.AL_STATUS, bytes(2)) == (b"\x03\x00", 2)


def test_registers_beyond_the_memory_are_not_answered():
    assert Wire("do8").send(Command.APRD, 0, 0xF000, bytes(4))[1] == 0


def test_a_status_register_cannot_be_written():
    wire = Wire("do8")
    assert wire.write(1, Register.AL_STATUS, b"\x08\x00") == 0
    assert wire.read(1, Register.AL_STATUS, 1) == b"\x01"


def test_slaves_behind_a_cut_are_gone_and_the_link_is_counted_as_lost():
    wire = Wire("do8", "do8", "do8")
    wire.segment.cut_before(3)
    assert wire.send(Command.BRD, 0, Register.AL_STATUS, bytes(2))[1] == 2
    assert wire.read(2, Register.LOST_LINKS + 1, 1) == b"\1"
