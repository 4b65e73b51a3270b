"""What a program does and which checks it executes, counted by the program itself: variants with the plan words count-events and
count-checks (docs/sparse.md)."""
import os
import subprocess

from .proc import Failure

LIMIT = 600  # seconds of one run, the building of its variant included
TRIES = 6  # for each run that is wanted
EVENTS = ("field-self", "field-other", "array", "call-static", "call-virtual", "monitor")


class Counted:
    """Counts of one variant, of all its processes: by name, and of sites by number."""

    def __init__(self, texts):
        self.names, self.sites = {}, {}
        for words in (line.split("\t") for text in texts for line in text.splitlines()[1:]):
            if words[0] == "site":
                self.sites[int(words[1])] = self.sites.get(int(words[1]), 0) + int(words[2])
            else:
                self.names[words[0]] = self.names.get(words[0], 0) + int(words[1])

    def __getitem__(self, name):
        return self.names.get(name, 0)

    @property
    def checks(self):
        return self["check-race"] + self["check-alive"] + self["check-unit"]

    @property
    def frequency(self):
        """Checks in a load or store: how long a run goes on, with threads that wait for each other, is another matter."""
        return self.checks / max(self["access"], 1)

    @property
    def descents(self):
        return self["runtime-race"] + self["runtime-unit"]

    @property
    def events(self):
        return sum(self[name] for name in EVENTS)


class Counter:
    """Runs variants of one program, each `times`, and adds up."""

    def __init__(self, tool, program, args, home, expect_fail=False, times=1):
        self.tool, self.program, self.args, self.home = tool, program, [str(a) for a in args], home
        self.expect_fail, self.times, self.known = expect_fail, times, {}

    def _run(self, detect, plan):
        stem = self.home / f"counts-{len(self.known)}"
        env = dict(os.environ, DEADHEAT_OPTIONS=f"exitcode=0:print=0:counts_file={stem}")
        argv = [self.tool, "run", f"--detect={detect}", f"--db={self.home / 'found.db'}", f"--plan={plan}", "--", str(self.program), *self.args]
        # A run that crashes, as some defects make it, counts nothing: there is another.
        for _ in range(self.times * TRIES):
            done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False, timeout=LIMIT)
            texts = [p.read_text() for p in self.home.glob(f"{stem.name}.*")]
            if len(texts) >= self.times:
                break
        if len(texts) < self.times or (done.returncode not in (0, 1, 66) and not self.expect_fail):
            why = (done.stderr.strip().splitlines() or ["nothing was counted"])[-1]
            raise Failure(f"{self.program.name}, {plan}: exit {done.returncode}: {why}")
        return Counted(texts)

    def __call__(self, detect, plan):
        if (detect, plan) not in self.known:
            self.known[detect, plan] = self._run(detect, plan)
        return self.known[detect, plan]

    def events(self):
        return self("none", "none,count-events")

    def checks(self, detect, degree):
        return self(detect, f"{degree},count-checks")
