"""Every error a user or a caller can meet.

OasisError
├── ConfigError          a setting that cannot be used
├── ServerFault          the model server did not answer as it should
│   ├── ServerUnreachable    nothing listens there, or the connection broke (sending again may help)
│   ├── ServerLoading        the model is still being loaded
│   ├── ServerRefused        the request itself was refused (sending it again does not help)
│   └── ContextFull          the prompt is longer than the server's context; `n_ctx` when it said so
├── EngineFault          the embedded engine could not start or died
├── DialectFault         a chat template whose dialect could not be inferred or did not pass its check
├── SessionFault         a session file that cannot be read, written or locked
├── KvFault              a saved state, or the index of them, that cannot be kept or used
├── ToolFault            a tool could not do its work; the text goes to the model as the tool's output
│   └── WriteRefused         a write to a device that is not allowed or no longer as planned; nothing was sent
├── AuditFault           the record of writes to devices cannot be written, read or trusted
└── PrefixBroken         a request that does not begin with the one before it

The text of each says what happened, what it means and what to do.
"""


class OasisError(Exception):
    """Base of all errors that are shown to a user without a traceback."""


class ConfigError(OasisError):
    """A setting, flag or file that cannot be used."""


class ServerFault(OasisError):
    """The model server did not answer as it should."""


class ServerUnreachable(ServerFault):
    """Nothing listens there, or the connection broke; sending the same request again may help."""


class ServerLoading(ServerFault):
    """The server is up and its model is still being loaded (HTTP 503)."""


class ServerRefused(ServerFault):
    """The request itself was refused: a key, a path, a field. Sending it again does not help."""


class ContextFull(ServerFault):
    """The prompt is longer than the server's context.

    `n_ctx` is the limit in tokens, None where the server did not say it.
    """

    def __init__(self, message: str, n_ctx: int | None = None) -> None:
        super().__init__(message)
        self.n_ctx = n_ctx


class EngineFault(OasisError):
    """The embedded engine could not start, or died."""


class DialectFault(OasisError):
    """A chat template whose dialect could not be inferred, or did not pass its check."""


class SessionFault(OasisError):
    """A session file that cannot be read, written or locked."""


class KvFault(OasisError):
    """A saved state, or the index of them, that cannot be kept or used; the work goes on without it."""


class ToolFault(OasisError):
    """A tool could not do its work; the text goes to the model as the tool's output."""


class WriteRefused(ToolFault):
    """A write to a device that is not allowed, or no longer as planned; nothing was sent."""


class AuditFault(OasisError):
    """The record of writes to devices cannot be written, read or trusted."""


class PrefixBroken(OasisError):
    """A request that does not begin with the one before it."""
