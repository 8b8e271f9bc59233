"""Lower bounds: by the cheapest itemset of each record, and by what records are worth together."""
