"""Why a turn ends."""


class Ended(Exception):
    """The turn ends here, for `reason` (see events.TurnFinished)."""

    def __init__(self, reason: str, text: str = "", detail: str = "") -> None:
        super().__init__(reason)
        self.reason, self.text, self.detail = reason, text, detail
