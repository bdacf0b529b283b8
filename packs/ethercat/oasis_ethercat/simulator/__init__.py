"""EtherCAT slaves in software on a pair of virtual Ethernet interfaces (Linux, CAP_NET_RAW and CAP_NET_ADMIN).

One frame's way: `wire` receives it, `segment` hands its datagrams to each `slave` in turn, a slave answers from its
`registers`, `sii`, `mailbox` and `fmmu`. `devices` and `drive` declare what can be plugged in; `running` starts it all.
"""
