"""The process of the reference: samples, right results and how far from them a right kernel may be."""
