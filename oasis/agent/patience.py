"""How often a turn puts up with messages that lead to nothing."""

from collections.abc import Sequence

from oasis.agent.ended import Ended
from oasis.agent.unrun import is_command
from oasis.core.items import Assistant, Stop

_ASK_AGAIN_LIMIT = 2
_MALFORMED_LIMIT = 3
_REFUSED_LIMIT = 10
_REPEAT_LIMIT = 3
_WATCH_LIMIT = 10

_ASKED_AGAIN = {
    Stop.LENGTH: "was cut off at the length limit; go on",
    Stop.REPEATING: "repeated itself and was stopped; answer briefly or call a tool",
}
_UNRUN = (
    "is a command in a code block: nobody runs it. Call the tool bash to run it, or answer with what was done and "
    "what was not"
)


class Patience:
    """What went wrong in a row in this turn."""

    def __init__(self) -> None:
        self._asked_again = 0
        self._was_unrun = False
        self._malformed = 0
        self._refused = 0
        self._repeats = 0
        self._alike = 0
        self._read: tuple[str, ...] = ()
        self._last: tuple[tuple[str, str], ...] = ()

    def see_calls(self, message: Assistant) -> str:
        """Take in a message with calls. How often the same came running, where that is too often; otherwise empty.

        Three times is; ten times where only reading gave something else each time: who watches a value asks again.
        """
        calls = tuple((call.name, call.arguments) for call in message.calls)
        if calls != self._last:
            self._last, self._repeats, self._alike, self._read = calls, 0, 0, ()
        self._repeats += 1
        self._asked_again = 0
        if self._alike + 1 >= _REPEAT_LIMIT:
            return "three times running"
        return "ten times running" if self._repeats >= _WATCH_LIMIT else ""

    def see_outputs(self, message: Assistant, read: Sequence[str], is_any_passed: bool) -> None:
        """Take in how the calls of a message went. Raises Ended where it goes on in vain.

        `read`: their outputs, where all of them only read. `is_any_passed`: could one of them be run?
        """
        self._alike = self._alike + 1 if tuple(read) == self._read else 1
        self._read = tuple(read)
        self._malformed = self._malformed + 1 if all(call.fault for call in message.calls) else 0
        self._refused = 0 if is_any_passed else self._refused + 1
        if self._malformed >= _MALFORMED_LIMIT:
            raise Ended("malformed", detail="three messages running held calls that could not be run")
        if self._refused >= _REFUSED_LIMIT:
            raise Ended("malformed", detail="in ten messages running no call could be run, or none was allowed")

    def ask_again(self, message: Assistant) -> str:
        """What to say to a message without calls. Raises Ended with the answer, or after asking twice in vain."""
        is_answer = message.stop is Stop.END and bool(message.text.strip())
        if is_answer and (self._was_unrun or not is_command(message.text)):
            raise Ended("done", message.text)
        if is_answer:
            self._was_unrun = True
            return f"Your last message {_UNRUN}."
        self._asked_again += 1
        if self._asked_again > _ASK_AGAIN_LIMIT:
            reason = "repeating" if message.stop is Stop.REPEATING else "malformed"
            raise Ended(reason, message.text, "the model gave no complete answer three times")
        said = _ASKED_AGAIN.get(message.stop, "held neither an answer nor a tool call; answer or call a tool")
        return f"Your last message {said}."
