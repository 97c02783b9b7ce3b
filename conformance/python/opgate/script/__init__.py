"""Scripts of plain torch calls, for `opgate repro --python`."""
