"""What ci/card runs on a machine with a GPU, in stages that write their results at once."""
