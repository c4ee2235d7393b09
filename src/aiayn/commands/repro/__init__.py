"""The whole graph in one process: DVC says what is to run, several stages run side by side."""
