"""The EtherCAT state machine of one slave: which changes are taken, which are refused and with what code.

Source: ETG.1000.6, AL management; ETG.1020 for the status codes.
"""

from collections.abc import Callable

from oasis_ethercat.esc import ERROR_FLAG, Register, State
from oasis_ethercat.simulator.registers import Registers

INVALID_CHANGE = 0x0011
UNKNOWN_STATE = 0x0012
NO_BOOTSTRAP = 0x0013
INVALID_MAILBOXES = 0x0016
WATCHDOG = 0x001B
INVALID_OUTPUTS = 0x001D
INVALID_INPUTS = 0x001E
INVALID_INPUT_MAPPING, INVALID_OUTPUT_MAPPING = 0x0024, 0x0025

_ALLOWED = {
    State.INIT: {State.INIT, State.PREOP},
    State.PREOP: {State.INIT, State.PREOP, State.SAFEOP},
    State.SAFEOP: {State.INIT, State.PREOP, State.SAFEOP, State.OP},
    State.OP: {State.INIT, State.PREOP, State.SAFEOP, State.OP},
}


class StateMachine:
    """State, error flag and AL status code; `check(state)` gives the code that refuses a state, or 0."""

    def __init__(self, registers: Registers, check: Callable[[State], int], entered: Callable[[], None]) -> None:
        self._registers = registers
        self._check = check
        self._entered = entered
        self.state = State.INIT
        self.history: list[str] = ["INIT"]
        self.refusals: dict[State, int] = {}
        """Codes with which the next request for a state is refused."""

    def request(self, control: int) -> None:
        """What the master wrote to AL control."""
        if self._registers.word(Register.AL_STATUS) & ERROR_FLAG and not control & ERROR_FLAG:
            return
        try:
            wanted = State(control & 0x0F)
        except ValueError:
            self.enter(self.state, UNKNOWN_STATE)
            return
        if code := self._refusal(wanted):
            self.enter(self.state, code)
        else:
            self.enter(wanted)

    def _refusal(self, wanted: State) -> int:
        if wanted is State.BOOT:
            return NO_BOOTSTRAP
        if wanted not in _ALLOWED[self.state]:
            return INVALID_CHANGE
        if wanted <= self.state:
            return 0
        return self.refusals.pop(wanted, 0) or self._check(wanted)

    def enter(self, state: State, code: int = 0) -> None:
        """Be in a state, with an error where `code` is given."""
        self.state = state
        self._registers.put(Register.AL_STATUS, state | (ERROR_FLAG if code else 0))
        self._registers.put(Register.AL_STATUS_CODE, code)
        self.history.append(f"{state.name}+0x{code:04X}" if code else state.name)
        del self.history[:-64]
        self._entered()
