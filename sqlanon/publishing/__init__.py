"""Publishing: plans, what they are expected to give, and carrying them out."""
