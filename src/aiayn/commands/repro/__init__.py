"""`aiayn repro`: `dvc repro` with several stages in parallel, in the folder of a scale."""
