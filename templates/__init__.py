"""Templates of long SQL and of reports."""
