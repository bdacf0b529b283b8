"""The packaging line's own content: signals, methods, alarms, the past, and how the process reaches its nodes."""

from copy import copy
from datetime import UTC, datetime, timedelta
from typing import Any

from asyncua.common.methods import uamethod
from asyncua.server.event_generator import EventGenerator
from asyncua.server.history import HistoryDict

from oasis_opcua.simulator.build import Builder
from oasis_opcua.simulator.process import Process
from oasis_opcua.simulator.server import LineServer
from oasis_opcua.simulator.signals import AREAS, LINE, PER_AREA, SIGNALS, Signal
from oasis_opcua.untyped import ua

HISTORY_KEPT = 2000
PAST_VALUES = 250
"""Seconds of the past that the history holds when the line starts, one value each."""
HISTORY_PORTION = 100
"""Values in one reply of the history; more wait behind a continuation point."""

ALARMS = (
    (700, "Sealer", "612 Sealer below 130 °C"),
    (300, "FilmUnwind", "408 Film roll under 10 %"),
    (500, "Guard", "120 Guard door 2 opened"),
)
"""Severity (1 to 1000), source and text of the events of the hour before the line started."""


class Content:
    """The line in a server's address space, and the process behind it."""

    def __init__(self, server: LineServer, builder: Builder) -> None:
        self.process = Process()
        self._server = server
        self._builder = builder
        self._kinds = {(s.namespace, s.name): getattr(ua.VariantType, s.kind) for s in SIGNALS}
        self._last: dict[str, Any] = {}
        self._history = HistoryDict(HISTORY_PORTION)
        self._events: EventGenerator | None = None

    async def fill(self, is_big: bool) -> None:
        for signal in SIGNALS:
            self._builder.variable(signal)
        await self._add_methods()
        await self._add_past()
        await self._add_events()
        if is_big:
            for area in range(1, AREAS + 1):
                for number in range(1, PER_AREA + 1):
                    value = area + number / 1000
                    self._builder.variable(Signal(f"Areas.Area{area:02d}.Signal{number:03d}", "Double", value))

    async def step(self, seconds: float) -> None:
        """Let `seconds` go by and show what changed."""
        speed, heat, sealing = (
            self._value(name)
            for name in (
                "Line1.Conveyor.SpeedSetpoint",
                "Line1.Sealer.TemperatureSetpoint",
                "Line1.Sealer.Enabled",
            )
        )
        self.process.step(seconds, float(speed), float(heat), bool(sealing))
        await self._show()
        now = ua.Variant(datetime.now(UTC), ua.VariantType.DateTime)
        clock = ua.NodeId(ua.ObjectIds.Server_ServerStatus_CurrentTime)
        await self._server.iserver.write_attribute_value(clock, ua.DataValue(now))

    async def alarm(self, severity: int, source: str, text: str) -> None:
        """Raise an event of the line now."""
        await self._raise(severity, source, text, datetime.now(UTC))

    async def _show(self) -> None:
        now = datetime.now(UTC)
        for name, value in self.process.values().items():
            if self._last.get(name) == value:
                continue
            self._last[name] = value
            node = self._builder.nodes[LINE, name]
            data = ua.DataValue(ua.Variant(value, self._kinds[LINE, name]), SourceTimestamp=now, ServerTimestamp=now)
            await self._server.iserver.write_attribute_value(node, data)
            if node in self._historised():
                await self._history.save_node_value(node, data)

    def _historised(self) -> set[Any]:
        return {self._builder.nodes[s.namespace, s.name] for s in SIGNALS if s.is_historised}

    def _value(self, name: str) -> Any:
        node = self._builder.nodes[LINE, name]
        data = self._server.iserver.aspace.read_attribute_value(node, ua.AttributeIds.Value)
        return data.Value.Value if data.Value else None

    async def _add_methods(self) -> None:
        @uamethod
        async def start(_parent: Any) -> None:
            self.process.is_started = True

        @uamethod
        async def stop(_parent: Any) -> None:
            self.process.is_started = False

        @uamethod
        async def reset(_parent: Any) -> int:
            before, self.process.packs = self.process.packs, 0
            return before

        async def recipe(_parent: Any, name: Any, number: Any, target: Any) -> Any:
            if not 0 < float(target.Value) <= 1000:
                return ua.StatusCode(ua.StatusCodes.BadOutOfRange)
            process = self.process
            process.recipe_name, process.recipe_number = str(name.Value), int(number.Value)
            process.target_g = float(target.Value)
            return [ua.Variant(True, ua.VariantType.Boolean)]

        line = self._server.get_node(self._builder.folder(LINE, "Line1"))
        before = _argument("PacksBefore", ua.ObjectIds.UInt32, "Packs counted before")
        recipe_in = [
            _argument("Name", ua.ObjectIds.String, "Name of the recipe"),
            _argument("Number", ua.ObjectIds.UInt16, "Number of the recipe"),
            _argument("TargetWeight", ua.ObjectIds.Float, "Weight of a pack in g, up to 1000"),
        ]
        accepted = _argument("Accepted", ua.ObjectIds.Boolean, "Whether the recipe is loaded")
        for name, function, inputs, outputs in (
            ("Start", start, [], []),
            ("Stop", stop, [], []),
            ("ResetCounter", reset, [], [before]),
            ("SetRecipe", recipe, recipe_in, [accepted]),
        ):
            node = self._builder.node_id(LINE, f"Line1.{name}")
            browse_name = ua.QualifiedName(name, node.NamespaceIndex)
            await line.add_method(node, browse_name, function, inputs, outputs)

    async def _add_past(self) -> None:
        self._server.iserver.history_manager.set_storage(self._history)
        began = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=PAST_VALUES)
        for signal in (s for s in SIGNALS if s.is_historised):
            node = self._builder.nodes[signal.namespace, signal.name]
            await self._history.new_historized_node(node, None, HISTORY_KEPT)
            for second in range(PAST_VALUES):
                at = began + timedelta(seconds=second)
                value = signal.value if signal.kind == "UInt32" else signal.value + second % 50 / 10
                data = ua.DataValue(ua.Variant(value, self._kinds[LINE, signal.name]), SourceTimestamp=at)
                await self._history.save_node_value(node, data)

    async def _add_events(self) -> None:
        line = self._builder.folder(LINE, "Line1")
        self._events = await self._server.get_event_generator(emitting_node=line)
        notifier = {ua.EventNotifier.SubscribeToEvents, ua.EventNotifier.HistoryRead}
        await self._server.get_node(line).set_event_notifier(notifier)
        await self._history.new_historized_event(line, [], None, HISTORY_KEPT)
        began = datetime.now(UTC) - timedelta(minutes=len(ALARMS))
        for minute, (severity, source, text) in enumerate(reversed(ALARMS)):
            await self._raise(severity, source, text, began + timedelta(minutes=minute))

    async def _raise(self, severity: int, source: str, text: str, at: datetime) -> None:
        generator = self._events
        if generator is None:
            return
        generator.event.Severity = severity
        generator.event.SourceName = source
        await generator.trigger(time_attr=at, message=text)
        await self._history.save_event(copy(generator.event))


def _argument(name: str, kind: int, text: str) -> Any:
    return ua.Argument(Name=name, DataType=ua.NodeId(kind), ValueRank=ua.Int32(-1), Description=ua.LocalizedText(text))
