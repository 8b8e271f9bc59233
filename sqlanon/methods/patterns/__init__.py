"""Local recoding by patterns of kept columns."""
