"""Every private name of Textual and Rich that the dashboard depends on, each with its reason.

No module outside of this package uses one. A private name may change with any release of Textual,
so that the version is held to the minor release that the package was tested with (``TESTED``).
"""

TESTED = "8.2"
"""The minor release of Textual whose private names these are."""
