"""The exceptions of the package. A message is a sentence: what is wrong, where, and what to do."""


class Error(Exception):
    """A failure such as a missing or damaged file or a full disk; the base class of the others."""


class UsageError(Error, ValueError):
    """An option or argument that is unknown or out of range."""


class Cancelled(Error):
    """The request was cancelled."""


class Expired(Error, TimeoutError):
    """The request's timeout has passed."""


class InternalError(Error):
    """A bug of dragoman: please report it."""


for _error in (Error, UsageError, Cancelled, Expired, InternalError):
    _error.__module__ = "dragoman"
