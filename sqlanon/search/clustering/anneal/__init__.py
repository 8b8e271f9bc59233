"""Annealing: records exchanged between clusters until the models hold."""
