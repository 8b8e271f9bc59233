"""Full-domain recoding: one generalization level per column."""
