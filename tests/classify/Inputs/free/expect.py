"""expect.py 'EXPRESSION' < RUNS: every run (a line of JSON of 'deadheat free-run') must make the expression true; with
--any one of them."""
import json
import sys

runs = [json.loads(line) for line in sys.stdin]
test = all if sys.argv[1] != "--any" else any
wanted = sys.argv[-1]
good = [bool(eval(wanted, {}, run)) for run in runs]
if not runs or not test(good):
    sys.exit(f"not so: {wanted}\n" + "\n".join(map(str, runs)))
