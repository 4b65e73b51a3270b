"""Twenty configure probes with deadheat against as many with clang: at most three times the processor time plus two seconds."""
import resource
import subprocess
import sys


def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(20):
        subprocess.run(command + ["conftest.c", "-o", "conftest"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


theirs = seconds([sys.argv[2]])
ours = seconds([sys.argv[1], "cc"])
if ours > 3 * theirs + 2:
    sys.exit(f"20 probes: {ours:.2f} s, clang {theirs:.2f} s")
