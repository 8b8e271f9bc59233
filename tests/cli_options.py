"""What tests of the command line give it: groups of options by name, and a terminal."""

import io

from sqlanon.cli.options import ModelOptions, PolicyOptions
from sqlanon.policy.privacy import FAMILIES


def policy_options(**options):
    """Options of a policy, those of models among them."""
    models = {key: options.pop(key) for key in FAMILIES if key in options}
    return PolicyOptions(models=ModelOptions(**models), **options)


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self):
        return True
