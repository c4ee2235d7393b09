"""`aiayn rehearse`: a short trial of a scale on generated text, and a check of the machine."""
