"""Local recoding by clusters."""
