"""Frames of a program: what they are called, what of them is read, and how they are made anew."""
