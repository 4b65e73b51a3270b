"""Twenty configure probes with deadheat against as many with clang: at most three times the time plus two seconds."""
import subprocess
import sys
import time


def seconds(command):
    started = time.monotonic()
    for _ in range(20):
        subprocess.run(command + ["conftest.c", "-o", "conftest"], check=True)
    return time.monotonic() - started


theirs = seconds([sys.argv[2]])
ours = seconds([sys.argv[1], "cc"])
if ours > 3 * theirs + 2:
    sys.exit(f"20 probes: {ours:.2f} s, clang {theirs:.2f} s")
