"""What records the calls of a program. The recorded process imports it from this folder, without OpGate."""
