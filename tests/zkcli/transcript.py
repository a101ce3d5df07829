"""Makes a transcript that can be compared of what zkCli.sh printed.

    python transcript.py COMMANDS <OUTPUT

After each command zkCli.sh was asked `printwatches`; its answer parts the output of one command
from that of the next. What differs from run to run is replaced: zxids by their rank (so that
order and equality stay visible), times, sessions, ports. Watch events are printed by a thread of
their own, anywhere between the lines of the commands, so they are gathered at the end.
"""

import itertools
import re
import sys

BOUNDARY = "printwatches is on"
# Without a connection even `printwatches` ends with this.
NOT_CONNECTED = "Not connected"


def tidy(line):
    line = re.sub(r"(ephemeralOwner) = 0x(?!0$)\w+", r"\1 = <session>", line)
    line = re.sub(r"([cm]time) = (?!Thu Jan 01 00:00:00 UTC 1970).*", r"\1 = <time>", line)
    line = re.sub(r"127\.0\.0\.1:\d{5}\b", "127.0.0.1:PORT", line)
    line = re.sub(r"(ZooKeeper CLI version): .*", r"\1: <version>", line)
    # The server keeps what `getEphemerals` tells in no order; `ls` sorts by itself.
    if re.fullmatch(r"\[/.*\]", line):
        line = "[" + ", ".join(sorted(line[1:-1].split(", "))) + "]"
    return line.rstrip()


def by_value(number):
    return int(number, 16)


def main():
    commands = [line.rstrip("\n") for line in open(sys.argv[1], encoding="utf-8")]
    outputs, events = [[]], []  # The greeting's output is the first.
    boundary = False
    for line in sys.stdin.read().splitlines():
        if line.startswith("WatchedEvent "):
            # Connections come and go in threads of their own: in no certain order.
            if " type:None " not in line:
                events.append(line)
            continue
        if line == BOUNDARY:
            outputs.append([])
            boundary = True
            continue
        if line in ("", "WATCHER::") or line.startswith("SLF4J: "):
            continue
        if not (boundary and line == NOT_CONNECTED) and not line.endswith(" - printwatches"):
            outputs[-1].append(tidy(line))
        boundary = False

    lines = []
    for command, output in itertools.zip_longest(commands, outputs[1:]):
        if output is None:
            output = ["(zkCli.sh was gone)"]
        if command == "whoami":
            output[1:] = sorted(output[1:])  # In no order either.
        lines += [f"> {command}", *output]
    lines += ["> (watch events)", *events]

    text = "\n".join(lines)
    zxid = re.compile(r"(?<=Zxid = )0x(?!0$)\w+", re.MULTILINE)
    ranks = {z: rank for rank, z in enumerate(sorted(set(zxid.findall(text)), key=by_value), 1)}
    print(zxid.sub(lambda match: f"<{ranks[match[0]]}>", text))


main()
