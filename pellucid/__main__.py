"""Run `python -m pellucid`, the same program as `pellucid`."""

import sys

from pellucid.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
