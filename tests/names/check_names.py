#!/usr/bin/env python3
"""Compares the sites of a program with what its source says about them.

usage: check_names.py SOURCE SITES.json      (SITES.json = output of `deadheat sites --format=json PROG`, "-" = stdin)

A line of SOURCE that ends with `// SITE: variable|field|op; ...` must have exactly these sites, in any order and
counting repetitions of a template once; artificial sites (vtable pointers, temporaries) are left aside.
Ends with `N lines right` and 0, or says what differs and ends with 1.
"""
import json
import os
import re
import sys


def expectations(source):
    marked = {}
    with open(source) as f:
        for number, line in enumerate(f, 1):
            mark = re.search(r"//\s*SITE:(.*)$", line)
            if not mark:
                continue
            wanted = [tuple(part.strip() for part in entry.split("|")) for entry in mark.group(1).split(";")]
            if any(len(entry) != 3 for entry in wanted):
                sys.exit(f"{source}:{number}: SITE wants variable|field|op")
            marked[number] = sorted(wanted)
    return marked


def sites_by_line(sites, source):
    """line -> containing function -> what was found, since template instances share their lines."""
    found = {}
    name = os.path.basename(source)
    for site in sites:
        if os.path.basename(site["file"]) != name or "artificial" in site["flags"] or site["op"] == "function":
            continue
        entry = site["variable"], site["field"], site["op"]
        found.setdefault(site["line"], {}).setdefault(site["function"], []).append(entry)
    return found


def matches(wanted, per_function):
    """Other instances of a template may differ in the type's arguments only: one function must fit exactly."""
    return any(sorted(entries) == wanted for entries in per_function.values())


def show(entries):
    return "; ".join("|".join(entry) for entry in entries) or "(none)"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, table = sys.argv[1:]
    with sys.stdin if table == "-" else open(table) as f:
        sites = json.load(f)["sites"]
    marked, found, wrong = expectations(source), sites_by_line(sites, source), 0
    if len(marked) < 40:
        sys.exit(f"{source}: only {len(marked)} lines are marked")
    for line, wanted in sorted(marked.items()):
        if matches(wanted, found.get(line, {})):
            continue
        wrong += 1
        print(f"{source}:{line}: wanted {show(wanted)}")
        for function, entries in found.get(line, {"": []}).items():
            print(f"{source}:{line}: found  {show(sorted(entries))}" + (f" in {function}" if function else ""))
    names = [site["name"] for site in sites]
    if len(names) != len(set(names)):
        wrong += 1
        print(f"{source}: stable names are not unique")
    print(f"{source}: {len(marked) - wrong} lines right, {wrong} wrong")
    return 1 if wrong else 0


sys.exit(main())
