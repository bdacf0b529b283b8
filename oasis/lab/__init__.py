"""A small plant to try things on: the simulators of all installed packs, on this machine."""
