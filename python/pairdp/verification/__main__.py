"""The command: ``python -m pairdp.verification``, or ``python`` with the path of this folder."""

import sys

if not __package__:
    # Run by its path: make the folder importable under its own name, without the rest of pairdp.
    from pathlib import Path

    folder = Path(__file__).resolve().parent
    sys.path.insert(0, str(folder.parent))
    try:
        main = __import__(folder.name).main
    except ModuleNotFoundError as error:
        # Not 1, which would be the answer no.
        print(f"{error}: the verifier needs NumPy and SciPy", file=sys.stderr)
        sys.exit(2)
else:
    from . import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
