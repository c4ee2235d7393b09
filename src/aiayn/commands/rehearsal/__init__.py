"""`aiayn rehearse`: runs a scale with small models, and checks the machine for the real run."""
