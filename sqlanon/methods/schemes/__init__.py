"""Global recoding by generalization schemes: one partition of the values of each column."""
