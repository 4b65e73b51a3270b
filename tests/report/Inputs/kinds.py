"""Writes a findings log with findings of every kind at places of kinds.c, as detectors that see them would.

usage: kinds.py DEADHEAT PROGRAM LOG [KIND/LEVEL...]
"""
import json
import re
import struct
import subprocess
import sys
import zlib

NONE = 0xFFFFFFFF
KINDS = ["race", "use-after-free", "lock-misuse", "annotation", "view", "atomicity", "deadlock", "critical-wait", "indefinite-wait",
         "lost-wakeup", "assertion", "crash"]
ROLES = ["", "call", "lock", "read-lock", "lock wait", "read-lock wait", "hold", "unlock", "lock destroy", "wait", "signal", "broadcast",
         "barrier wait", "semaphore wait", "semaphore post", "thread join", "once", "block", "thread exit", "function"]
READ, WRITE = 0, 1


def u32(*values):
    return struct.pack(f"<{len(values)}I", *values)


def u64(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def text(value):
    return u32(len(value.encode())) + value.encode() + b"\0"


def items(parts):
    return u32(len(parts)) + b"".join(parts)


class Program:
    """Places and globals of the executable, which is module 0 of every record."""

    def __init__(self, deadheat, path):
        self.path = path
        sites = json.loads(subprocess.check_output([deadheat, "sites", "--format=json", path]))["sites"]
        self.sites = {s["name"].split(":", 1)[1]: s["id"] for s in sites}
        lines = subprocess.check_output(["nm", path], text=True).splitlines()
        found = [m for m in (re.match(r"(\w+) [bBdD] (house_account|front|back|money)$", line) for line in lines) if m]
        self.symbols = {m[2]: int(m[1], 16) for m in found}
        assert len(found) == 4, f"the runtime has variables of these names, too: {found}"

    def where(self, name):
        return u32(0) + u64(self.symbols[name]) if name in self.symbols else u32(NONE) + u64(0)


NO_STACK = u32(0, 0)


def lock(program, name, taken, shared=0):
    return u64(0x5000 + program.symbols[name]) + program.where(name) + u32(shared, program.sites[taken], 0) + NO_STACK


def access(program, thread, site, held=(), role="", name="", address=0x7000, note="", size=4, flags=READ):
    place = (program.sites[site], 0) if site else (NONE, NONE)
    return (u32(thread, flags, ROLES.index(role), *place, 0 if role else size) + u64(address, 0) + program.where(name) + text(note) + NO_STACK
            + items([lock(program, *h) for h in held]))


def finding(program, kind, level, detector, says, key, accesses, about=""):
    named = program.symbols.get(about)
    region = u32(1, NONE) + program.where(about) if named else u32(0, NONE, NONE) + u64(0)
    threads = items([u32(0, NONE, 0) + text("kinds") + NO_STACK, u32(1, 0, 0) + text("teller") + NO_STACK,
                     u32(2, 0, 2) + text("auditor") + NO_STACK])
    return (u32(KINDS.index(kind), ["suspected", "observed"].index(level)) + u64(1700000000) + text(detector) + text(says) + text(key)
            + u64(0x5000 + named if named else 0) + u32(4, 0) + bytes(16) + region + u64(0, 0) + NO_STACK + items(accesses) + threads
            + items([bytes(16) + text(program.path)]))


def everything(p):
    front, back = ("front", "teller:front:lock#1"), ("back", "audit:back:lock#1")
    writes = access(p, 1, "teller:struct account.balance:W#1", [front], flags=WRITE)
    reads = access(p, 2, "audit:struct account.balance:R#1", [back])
    takes = [access(p, 1, "teller:back:lock#1", [front], role="lock", name="back"),
             access(p, 2, "audit:front:lock#1", [back], role="lock", name="front")]
    waits = [access(p, 1, "teller:back:lock#1", [front], role="lock wait", name="back", note="held by thread T2 'auditor'"),
             access(p, 2, "audit:front:lock#1", [back], role="lock wait", name="front", note="held by thread T1 'teller'"),
             access(p, 0, "main:t:join#1", role="thread join", address=1)]
    waiting = access(p, 0, "wait_for_money:money:wait#1", [back], role="wait", name="money", note="gives front back, keeps back")
    signal = access(p, 1, "bring_money:money:signal#1", role="signal", name="money", note="nobody waited yet")
    return {
        "race/suspected": finding(p, "race", "suspected", "lockset", "no lock is held at both accesses, and nothing else orders them", "",
                                  [writes, reads], "house_account"),
        "race/observed": finding(p, "race", "observed", "race", "", "", [reads, writes], "house_account"),
        "view/suspected": finding(
            p, "view", "suspected", "views", "balance and credit are used together in one section of lock front and apart in two others", "",
            [access(p, 1, "teller:struct account.balance:W#1", [front], flags=WRITE, note="together, in one section of front"),
             access(p, 1, "teller:struct account.credit:W#1", [front], flags=WRITE, note="together, in one section of front"),
             access(p, 2, "audit:struct account.balance:R#1", [back], note="apart"),
             access(p, 2, "audit:struct account.credit:R#1", [back], note="apart")]),
        "atomicity/observed": finding(
            p, "atomicity", "observed", "atomrace", "another thread's read came between the two writes of one section", "balance",
            [access(p, 1, "teller:struct account.balance:R#1", note="begins the section", flags=READ),
             access(p, 2, "audit:struct account.balance:R#1", note="in between"),
             access(p, 1, "teller:struct account.balance:W#1", note="ends the section", flags=WRITE)]),
        "deadlock/suspected": finding(p, "deadlock", "suspected", "deadlock", "two threads take these locks in opposite orders", "", takes, "back"),
        "deadlock/observed": finding(p, "deadlock", "observed", "deadlock", "all 3 threads wait for each other", "", waits),
        "critical-wait/suspected": finding(p, "critical-wait", "suspected", "deadlock", "whoever signals may need a lock that is held meanwhile",
                                           "", [waiting], "money"),
        "indefinite-wait/observed": finding(p, "indefinite-wait", "observed", "deadlock", "no thread that could signal it is left", "", [waiting],
                                            "money"),
        "lost-wakeup/suspected": finding(p, "lost-wakeup", "suspected", "deadlock", "the signal came before the wait and changed nothing it tests",
                                         "", [signal, waiting], "money"),
        "lock-misuse/observed": finding(p, "lock-misuse", "observed", "deadlock", "given back by a thread that does not hold it", "",
                                        [access(p, 2, "teller:back:unlock#1", role="unlock", name="back")], "back"),
        "use-after-free/observed": finding(p, "use-after-free", "observed", "race", "", "",
                                           [reads, access(p, 1, "", size=48, flags=1 | 4 | 16)]),
        "annotation/observed": finding(p, "annotation", "observed", "race", "balance is promised to be guarded by front", "", [reads], "house_account"),
        "assertion/observed": finding(p, "assertion", "observed", "engine", "sum >= 0", "", [reads]),
        "crash/observed": finding(p, "crash", "observed", "engine", "signal 11", "", [reads]),
    }


def record(kind, content):
    body = u32(kind, len(content)) + content
    return b"DHR!" + u32(zlib.crc32(body)) + body


def main():
    deadheat, path, log, *wanted = sys.argv[1:]
    program = Program(deadheat, path)
    process = u32(77) + u64(1700000000) + bytes(16) + text(path) + text("") + text("race")
    findings = everything(program)
    with open(log, "wb") as out:
        out.write(b"DHFINDS1" + u32(2, 0x01020304) + record(1, process))
        for name in wanted or findings:
            out.write(record(2, findings[name]))


main()
