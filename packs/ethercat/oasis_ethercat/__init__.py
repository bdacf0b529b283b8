"""EtherCAT for Oasis: scan, read and, under a site file, drive a segment of slaves."""
