"""Groups of the command line's options, from their values by name."""

from sqlanon.cli.options import ModelOptions, PolicyOptions
from sqlanon.policy.privacy import FAMILIES


def policy_options(**options):
    """Options of a policy, those of models among them."""
    models = {key: options.pop(key) for key in FAMILIES if key in options}
    return PolicyOptions(models=ModelOptions(**models), **options)
