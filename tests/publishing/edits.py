"""Saved plans that are changed by hand, and their digest with them."""

import json

from sqlanon.publishing.promises import DIGEST, sealed


def edit(file, *changes):
    """Changes what a file says by each function, and seals it as it is now."""
    document = json.loads(file.read_text())
    del document[DIGEST]
    for change in changes:
        change(document)
    file.write_text(json.dumps(sealed(document)))
