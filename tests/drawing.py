"""How many random examples a test draws: as many as it asks for, or a share in the quick loop."""

from hypothesis import HealthCheck, settings

ALL = 100  # examples of a test that asks for no number
SHARE = 20  # the quick loop draws one of so many
FEWEST = 3


def draw(quick):
    """Sets what all tests draw, before they are read; how fast they draw tells of the machine."""
    settings.register_profile(
        "tier",
        settings(),
        max_examples=ALL // SHARE if quick else ALL,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("tier")


def examples(number, **others):
    """Settings of a test that asks for this number of examples."""
    return settings(max_examples=max(number * settings().max_examples // ALL, FEWEST), **others)
