"""The parts of the report that are no table of the paper's."""
