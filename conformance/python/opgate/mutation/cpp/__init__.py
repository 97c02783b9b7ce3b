"""Mutants of C++ and CUDA sources, all of which one build has behind switches."""
