"""Watching by subscription: the server reports, and nothing is polled."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any

from oasis.plant.values import Point, Reading
from oasis_opcua import faults, items
from oasis_opcua.about import Atlas
from oasis_opcua.link import Link
from oasis_opcua.past import event, event_filter
from oasis_opcua.reader import of_value
from oasis_opcua.refusals import Broken, in_words
from oasis_opcua.structures import opened
from oasis_opcua.untyped import status_name, ua

QUEUE = 100
"""Changes that the server may keep for us between two reports, for each point."""
MOST_WAITING = 10_000
LOOK_S = 1.0
"""How often a quiet watch looks whether the connection still stands."""


async def changes(
    link: Link, atlas: Atlas, points: Sequence[tuple[Point, items.Item]], seconds: float, interval_s: float
) -> AsyncGenerator[Reading]:
    """Each point's first value, then each change, for so many seconds. What cannot be watched says so once."""
    clock = asyncio.get_running_loop().time
    ends = clock() + seconds
    wires = [await link.wire(item.node) for _, item in points]
    values = [wire for wire, (_, item) in zip(wires, points, strict=True) if item.verb == "value"]
    await atlas.learn(values)
    waiting: asyncio.Queue[tuple[int, Any]] = asyncio.Queue(MOST_WAITING)
    subscription = await _Subscription.made(link, interval_s, waiting)
    try:
        refused = await subscription.add(wires, points, interval_s)
        for place, status in refused:
            yield Reading(points[place][0], None, faults.status(status))
        while (left := ends - clock()) > 0 and len(refused) < len(points):
            try:
                place, given = await asyncio.wait_for(waiting.get(), min(left, LOOK_S))
            except TimeoutError:
                if not link.is_open:
                    raise Broken(faults.lost(link.where)) from None
                continue
            point, item = points[place]
            if item.verb == "events":
                yield event(link, replace(point, address=f"event of {item.node}"), given)
                continue
            (given,) = await opened(link, atlas, [given])
            for reading in of_value(link, point, item, given, atlas.known(wires[place])):
                yield reading
    finally:
        await subscription.delete()


class _Subscription:
    """One subscription on the server, whose reports go into a queue."""

    def __init__(self, link: Link, number: int) -> None:
        self._link = link
        self._number = number

    @classmethod
    async def made(cls, link: Link, interval_s: float, waiting: "asyncio.Queue[tuple[int, Any]]") -> "_Subscription":
        parameters = ua.CreateSubscriptionParameters(
            RequestedPublishingInterval=interval_s * 1000,
            RequestedLifetimeCount=3000,
            RequestedMaxKeepAliveCount=50,
            MaxNotificationsPerPublish=1000,
            PublishingEnabled=True,
            Priority=0,
        )

        async def report(published: Any) -> None:
            for notification in published.NotificationMessage.NotificationData or ():
                _put(notification, waiting)

        made: Any = await link.ask(link.session.create_subscription(parameters, report))
        return cls(link, made.SubscriptionId)

    async def add(
        self, wires: Sequence[Any], points: Sequence[tuple[Point, items.Item]], interval_s: float
    ) -> list[tuple[int, str]]:
        """Watch these nodes; gives the places that the server refused, with the status."""
        asked = [
            _monitored(wire, item, place, interval_s)
            for place, (wire, (_, item)) in enumerate(zip(wires, points, strict=True))
        ]

        async def send(part: Sequence[Any]) -> list[Any]:
            parameters = ua.CreateMonitoredItemsParameters(
                SubscriptionId=self._number,
                TimestampsToReturn=ua.TimestampsToReturn.Both,
                ItemsToCreate=list(part),
            )
            return await self._link.session.create_monitored_items(parameters)

        results = await self._link.in_parts("monitored", asked, send)
        return [
            (place, status_name(result.StatusCode.value))
            for place, result in enumerate(results)
            if not result.StatusCode.is_good()
        ]

    async def delete(self) -> None:
        """Take the subscription off the server; a connection that broke has taken it along."""
        with contextlib.suppress(Exception), in_words(self._link.address):
            await self._link.session.delete_subscriptions([self._number])


def _monitored(wire: Any, item: items.Item, place: int, interval_s: float) -> Any:
    is_event = item.verb == "events"
    attribute = ua.AttributeIds.EventNotifier if is_event else ua.AttributeIds.Value
    parameters = ua.MonitoringParameters(
        ClientHandle=place,
        SamplingInterval=interval_s * 1000,
        QueueSize=QUEUE,
        DiscardOldest=True,
        Filter=event_filter() if is_event else None,
    )
    return ua.MonitoredItemCreateRequest(
        ItemToMonitor=ua.ReadValueId(NodeId=wire, AttributeId=attribute),
        MonitoringMode=ua.MonitoringMode.Reporting,
        RequestedParameters=parameters,
    )


def _put(notification: Any, waiting: "asyncio.Queue[tuple[int, Any]]") -> None:
    """Put what one notification holds into the queue; what no longer fits is left to the newest that does."""
    if isinstance(notification, ua.DataChangeNotification):
        reports = [(entry.ClientHandle, entry.Value) for entry in notification.MonitoredItems or ()]
    elif isinstance(notification, ua.EventNotificationList):
        reports = [(entry.ClientHandle, entry.EventFields) for entry in notification.Events or ()]
    else:
        return
    for report in reports:
        if waiting.full():
            waiting.get_nowait()
        waiting.put_nowait(report)
