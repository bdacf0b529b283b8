"""A packaging line on OPC UA that runs on this machine: what demonstrations and tests browse, read and write.

`line.running_line` is the way in.
"""
