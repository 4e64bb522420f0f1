"""The base of a stand-in that is passed where a test has no need of the real class."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # The type checker takes a subclass of Any for any class. At run time Any refuses arguments to a constructor.
    from typing import Any as StandIn
else:

    class StandIn: ...
