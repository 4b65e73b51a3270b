"""Two JSON reports: the same one finding, on another line, in one run more."""
import json
import sys

before, after = (json.load(open(name))["findings"] for name in sys.argv[1:])
assert len(before) == len(after) == 1, (len(before), len(after))
assert before[0]["id"] == after[0]["id"]
assert after[0]["runs"] == before[0]["runs"] + 1
assert after[0]["accesses"][0]["line"] == before[0]["accesses"][0]["line"] + 1
