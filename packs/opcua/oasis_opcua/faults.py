"""What goes wrong on OPC UA, in words. Status codes: Part 4, 7.39, and Part 6, Annex A."""

STATUS = {
    "BadNodeIdUnknown": "there is no such node on this server; check namespace URI and name, or scan",
    "BadNodeIdInvalid": "there is no such node on this server; check namespace URI and name, or scan",
    "BadAttributeIdInvalid": "this node has no value: it is an object, a type or a method; scan it instead",
    "BadIndexRangeNoData": "the array has no elements there; read it without [ ] to see how many it has",
    "BadIndexRangeInvalid": "this value is no array, or the range is no range of it",
    "BadNotReadable": "the server does not let this session read it",
    "BadNotWritable": "the server lets nobody write it",
    "BadUserAccessDenied": "this user may not do that; another user's name may be needed in the URL (user@host)",
    "BadOutOfRange": "the value is outside the range that the node allows (its EURange)",
    "BadTypeMismatch": "the value's type is not the node's DataType",
    "BadInvalidArgument": "an argument has a wrong type or value; read the method to see what it takes",
    "BadArgumentsMissing": "the method takes more arguments; read the method to see which",
    "BadTooManyArguments": "the method takes fewer arguments; read the method to see which",
    "BadMethodInvalid": "the object has no such method",
    "BadNotExecutable": "the method cannot be called now, or by nobody",
    "BadNotSupported": "the server does not do this for this node",
    "BadHistoryOperationUnsupported": "the server keeps no history of this node",
    "BadHistoryOperationInvalid": "the server keeps no history of this node, or not in this form",
    "BadNoContinuationPoints": "the server has no further continuation points; browse fewer nodes at once",
    "BadServiceUnsupported": "the server does not offer this service",
    "BadNotConnected": "the server lost the device behind it",
    "BadDeviceFailure": "the device behind the server failed; look at the device itself",
    "BadSensorFailure": "the sensor failed; look at the sensor and its wiring",
    "BadCommunicationError": "the server cannot reach the device behind it",
    "BadNoCommunication": "the server has no connection to the device behind it",
    "BadWaitingForInitialData": "the server has no value yet; read again in a while",
    "BadOutOfService": "the source is switched off",
    "BadShutdown": "the server is shutting down",
    "UncertainLastUsableValue": "the source is lost; this is the last value it gave",
    "UncertainInitialValue": "nothing was measured yet; this is the initial value",
    "UncertainSubNormal": "fewer sources than needed are good",
    "UncertainSensorNotAccurate": "the sensor is at its limit or out of calibration",
    "UncertainEngineeringUnitsExceeded": "outside the range that the sensor is made for",
}

SERVER_DID_NOTHING = frozenset({
    "BadTooManyOperations", "BadSessionIdInvalid", "BadSessionClosed", "BadSessionNotActivated", "BadUserAccessDenied",
    "BadServiceUnsupported", "BadDecodingError", "BadRequestTooLarge", "BadSecureChannelIdInvalid", "BadNothingToDo",
    "BadIdentityTokenRejected", "BadTcpMessageTooLarge",
})  # fmt: skip
"""Service results that say that a request was turned away before anything was done."""

TOO_MUCH = frozenset({"BadTooManyOperations", "BadResponseTooLarge", "BadEncodingLimitsExceeded", "BadRequestTooLarge"})
"""Service results that a smaller request can avoid."""


def status(name: str) -> str:
    """A status code's name with what it means."""
    meaning = STATUS.get(name, "")
    return f"{name}: {meaning}" if meaning else name


def unreachable(where: str) -> str:
    return (
        f"No connection to {where}: nothing listens there, a firewall is between, or the server takes no further "
        "client. Check address and port (usually 4840); nothing was read or written."
    )


def silent(where: str) -> str:
    return (
        f"{where} took the connection and did not answer as an OPC UA server in time. It may be busy, or "
        "this is another protocol's port."
    )


def lost(where: str) -> str:
    return f"The connection to {where} broke. Ask again: Oasis connects anew. Values read before may be old."
