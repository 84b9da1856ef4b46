"""``python -m gwtui``."""

import sys

from gwtui.cli.main import main

sys.exit(main())
