"""SQL files that run verbatim."""
