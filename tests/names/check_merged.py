#!/usr/bin/env python3
"""Compares the races that a run reports with what the source of the program says about them.

usage: check_merged.py SOURCE REPORT      (REPORT = what the program wrote to stderr)

A line of SOURCE that ends with `// RACE: variable@object; ...` has accesses to these variables, in that global, or on
the heap. Each report must name one of them, and both its accesses must be at lines that are marked with that
member of that object, by whatever name. Each member must be reported at least once.
Ends with `N reports right` and 0, or says what differs and ends with 1.
"""
import os
import re
import sys


def expectations(source):
    """line -> {(variable, object)}"""
    marked = {}
    with open(source) as f:
        for number, line in enumerate(f, 1):
            mark = re.search(r"//\s*RACE:(.*)$", line)
            if mark:
                marked[number] = {tuple(part.strip().split("@")) for part in mark.group(1).split(";")}
    return marked


def reports(text):
    """(variable, object, first frames) of each report."""
    for report in text.split("WARNING: deadheat: data race on ")[1:]:
        head, _, body = report.partition("\n")
        variable = re.sub(r"( \([^()]*(\(\*\))?[^()]*\))* \(pid=\d+\)$", "", head)
        where = re.search(r"Location is (?:global '([^']*)'|(heap) block)", body)
        accesses = re.findall(r"^  (?:Read|Write|Previous read|Previous write).*\n    #0 (\S+) (\S+?):(\d+)", body, re.M)
        yield variable, (where.group(1) or where.group(2)) if where else "?", accesses


def member(variable, where):
    """The same for all ways to reach a member: of a global, of a parameter, of what a pointer leads to."""
    return variable.rpartition(".")[2] if "." in variable else "", where


def problem(report, marked, name):
    variable, where, accesses = report
    if len(accesses) != 2:
        return f"{len(accesses)} of 2 accesses have a place"
    if not any((variable, where) in all for all in marked.values()):
        return f"there is no {variable} in {where}"
    for function, file, line in accesses:
        if os.path.basename(file) != name:
            return f"{function} is at {file}"
        if member(variable, where) not in {member(*mark) for mark in marked.get(int(line), set())}:
            return f"line {line} has no {variable} in {where}"
    return None


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, log = sys.argv[1:]
    marked, wrong, right = expectations(source), 0, 0
    found = set()
    with open(log) as f:
        for report in reports(f.read()):
            why = problem(report, marked, os.path.basename(source))
            if why:
                wrong += 1
                print(f"{source}: race on {report[0]} in {report[1]}, {report[2]}: {why}")
                continue
            right += 1
            found.add(member(report[0], report[1]))
    for missed in sorted({member(*mark) for all in marked.values() for mark in all} - found):
        wrong += 1
        print(f"{source}: no race on {'.'.join(missed)}")
    print(f"{source}: {right} reports right, {wrong} wrong")
    return 1 if wrong or not right else 0


sys.exit(main())
