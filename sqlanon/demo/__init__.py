"""The demo: a made-up census, and the tour through it."""
