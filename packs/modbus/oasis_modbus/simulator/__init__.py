"""A boiler, a pump station and a slow neighbour that run on this machine: what demonstrations and tests work on.

`stations.boiler` is the entry of the pack; `stations.running` gives the witness, the faults and the process as well.
"""
