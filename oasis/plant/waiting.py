"""The plans that wait to be approved, each good once, and why the others are void."""

import secrets
from collections.abc import Collection

from oasis.errors import WriteRefused
from oasis.plant.plan import Plan
from oasis.plant.values import spelled


class Waiting:
    """Plans by token. `sent_before` of a plan is how many writes to its tag the audit had when it was made."""

    def __init__(self) -> None:
        self._plans: dict[str, Plan] = {}
        self._sent_before: dict[str, int] = {}
        self._void: dict[str, str] = {}

    def add(self, plan: Plan, sent_before: int) -> None:
        self._plans[plan.token] = plan
        self._sent_before[plan.token] = sent_before

    def get(self, token: str) -> Plan | None:
        """The plan that waits under this token; None where there is none, or no longer."""
        return self._plans.get(token)

    def sent_before(self, plan: Plan) -> int:
        return self._sent_before[plan.token]

    def claim(self, token: str) -> Plan:
        """The plan of a token, which is used up by this. Raises WriteRefused for one that is void."""
        plan = self._plans.pop(token, None)
        if plan is None:
            why = self._void.get(token, "no write was planned with it in this session")
            raise WriteRefused(
                f"The token {spelled(token[:40])} is void: {why}. Nothing was sent; plan the write again."
            )
        self._void[token] = "it has been used, and a plan is carried out once"
        return plan

    def void_others(self, sent: Plan) -> None:
        """What was planned for the same place before this was sent is void."""
        place = (sent.tag.url, sent.tag.point.address)
        for token, other in list(self._plans.items()):
            if (other.tag.url, other.tag.point.address) == place:
                del self._plans[token]
                self._void[token] = f"{other.tag.name} was written since it was planned"


def new_token(used: Collection[str]) -> str:
    """Eight hex digits that no write in the audit has."""
    while (token := secrets.token_hex(4)) in used:
        pass
    return token
