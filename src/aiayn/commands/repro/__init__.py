"""`aiayn repro`: `dvc repro` with several stages at a time, in the folder of a scale."""
