"""The way in, as `oasis` or `python -m oasis`: Ctrl-C while the program is still loading ends it in words as well."""

import sys

INTERRUPTED = 130


def main() -> None:
    """Load the command line and run it."""
    try:
        from oasis.cli.main import main as run  # noqa: PLC0415
    except KeyboardInterrupt:
        print("oasis: Interrupted.", file=sys.stderr)
        sys.exit(INTERRUPTED)
    run()


if __name__ == "__main__":
    main()
