"""Spark, by Spark Connect's calls alone, so that a shared cluster and Sail take them, too."""
