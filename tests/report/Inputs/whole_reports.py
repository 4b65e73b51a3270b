"""whole_reports N: standard input is reports, each whole, no two with the same title, stacks and order; at least N variables or lines."""
import re
import sys

text = sys.stdin.read()
reports = re.findall(r"^={18}\nWARNING: deadheat: (.*?)^SUMMARY: deadheat: (.*?)\n={18}\n", text, re.M | re.S)
left = re.sub(r"^={18}\nWARNING: .*?^SUMMARY: .*?\n={18}\n", "", text, flags=re.M | re.S)
assert re.fullmatch(r"deadheat: \d+ findings\n", left), left
assert len(reports) == int(left.split()[1]), (len(reports), left)
places = {summary for _, summary in reports}
assert len(places) >= int(sys.argv[1]), places
