"""Repartition: small groups of clusters dissolved and parted anew by integer programs."""
