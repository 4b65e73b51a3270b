"""bench/detect: the runs, their judgement, and the tables."""
import dataclasses
import queue
import shutil
import threading
import time
from pathlib import Path

from . import peers, process, table
from .match import JUDGED, Score
from .proc import Failure, reason_in
from .reports import LEVELS, Report
from .results import NOISE, Results, say
from .state import digest
from .workload import KINDS

_IDLE_SECONDS = 5
_PEERS_SHOWN = 20
_HANGS_ENOUGH = 2  # further runs would only wait
_PATIENCE_SECONDS = 40  # of CPU: test sizes take a tenth of a second natively, so what is not done by then hangs


@dataclasses.dataclass(frozen=True)
class Unit:
    """Several runs of one program with one tool."""
    case: object
    peer: object
    fixed: bool
    runs: int

    @property
    def name(self):
        return f"{self.case.name}{' (twin)' if self.fixed else ''}: {self.peer.name}"


def _status(end):
    if end.hung:
        return "hang", end.hung
    if end.crash:
        return end.crash, f"ended by {end.crash}"
    if end.rc in (0, 66):  # 66: deadheat found something, or a sanitizer did; the program's own 0 otherwise
        return "ok", ""
    return ("fails" if end.rc == 1 else f"exit {end.rc}"), f"exit code {end.rc}"


def _reasons(path):
    """{(program, kind, variable): why} of the false suspicions that are known, or of the defects that no run can show."""
    if not path.exists():
        return {}
    rows = [line.split("\t") for line in path.read_text().splitlines()[1:] if line.strip()]
    return {tuple(r[:3]): r[3] for r in rows if len(r) == 4}


class Detection:
    def __init__(self, home, state, tools, opts):
        self.home, self.state, self.peers, self.opts = Path(home), state, tools, opts
        self.build, self.env = peers.Builder(home), peers.environment(home)
        self.columns = [(p, c) for p in tools if p.name != "native" for c in p.columns]
        self.records, self.problems, self.notes = {}, [], []
        self.cases, self.scores = [], {}
        self._stop, self._guard, self._done = threading.Event(), threading.Lock(), 0
        self._reasons = _reasons(Path(opts.workloads) / "suspicions.tsv")
        self._unseen = _reasons(Path(opts.workloads) / "unseen.tsv")
        code = Path(__file__).parent
        self._code = digest(*((code / f).read_text() for f in ("reports.py", "detection.py", "process.py")))

    # Running

    def run(self, workloads, broken):
        self.cases = [c for w in workloads.values() for c in w.cases()]
        for name, why in broken.items():
            self.problems.append((name, why))
        units = [u for case in self.cases if self._truth(case) is not None for u in self._units(case)]
        self._rounds(units)
        self._judge()
        return self._results(broken)

    def _truth(self, case):
        try:
            return case.defects()
        except Failure:
            return None  # said once, in the tables

    def _units(self, case):
        for peer in self.peers:
            if peer.missing:
                continue
            slow = isinstance(peer, peers.Valgrind)
            yield Unit(case, peer, False, min(self.opts.runs, self.opts.valgrind_runs) if slow else self.opts.runs)
            yield Unit(case, peer, True, 1 if slow else min(self.opts.runs, self.opts.twin_runs))

    def _rounds(self, units):
        """Everything once, then once more and so on, so that what there is when time is up is about all of the programs."""
        end = time.monotonic() + 60 * self.opts.budget
        rounds = max((u.runs for u in units), default=0)
        for n in range(rounds):
            if n and time.monotonic() > end:
                self.notes.append(f"{n} of {rounds} runs of each program: the time was up (--budget)")
                break
            say(f"run {n + 1} of {rounds}")
            self._done = 0
            self._run_all([u for u in units if n < u.runs and self._goes_on(u)], n)

    def _goes_on(self, unit):
        ends = [r["status"] for r in self.records.get((unit.case.name, unit.peer.name, unit.fixed), ())]
        return ends.count("hang") < _HANGS_ENOUGH and "not built" not in ends

    def _run_all(self, units, n):
        todo = queue.SimpleQueue()
        for unit in units:
            todo.put(unit)
        workers = [threading.Thread(target=self._work, args=(todo, len(units), n), daemon=True) for _ in range(self.opts.jobs)]
        try:
            for w in workers:
                w.start()
            for w in workers:
                while w.is_alive():
                    w.join(0.5)
        except BaseException:
            self._stop.set()
            raise

    def _work(self, todo, total, n):
        while not self._stop.is_set():
            try:
                unit = todo.get_nowait()
            except queue.Empty:
                return
            try:
                record = self._run(unit, n)
            except Exception as e:  # a bug of ours must not look like a clean column
                record = {"status": "error", "why": f"{type(e).__name__}: {e}", "reports": []}
            if record is None:
                return
            with self._guard:
                self.records.setdefault((unit.case.name, unit.peer.name, unit.fixed), []).append(record)
                self._done += 1
                count = len(record["reports"])
                say(f"[{self._done}/{total}] {unit.name}: {record['status']}" + (f", {count} reports" if count else ""))

    def _run(self, unit, n):
        """What the n-th run said, None when we are to stop."""
        peer = unit.peer
        key = digest("run", self._code, unit.case.workload.digest(), peer.key, unit.name, n, self._args(unit.case), unit.case.defs,
                     unit.case.workload.flags, unit.case.workload.timeout, getattr(peer, "detectors", ()), getattr(peer, "noise", ""))
        record = self.state.get(key)
        if record is None:
            record = self._once(unit, n)
            if record is not None:
                self.state.put(key, record)
        return record

    @staticmethod
    def _args(case):
        return [*case.workload.test_args, *case.args]

    def _once(self, unit, n):
        try:
            program = self.build(unit.case, unit.peer, unit.fixed, unit.peer.last_flags)
        except Failure as e:
            if self._stop.is_set():
                return None  # the compiler was ended by us
            return {"status": "not built", "why": str(e), "reports": []}
        w, peer = unit.case.workload, unit.peer
        scratch = self.home / "runs" / unit.case.name.replace("/", ".") / f"{peer.name}{'.twin' if unit.fixed else ''}"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        out, log = scratch / "reports", scratch / f"run{n}.log"
        argv, more = peer.call(program, self._args(unit.case), out, n)
        env = dict(peer.environment(self.env), **more)
        end = process.run(argv, cwd=scratch, env=env, log=log, limit=min(w.timeout * peer.patience, _PATIENCE_SECONDS),
                          idle_limit=min(_IDLE_SECONDS, w.timeout))
        if self._stop.is_set():
            return None  # ended by us
        if isinstance(peer, peers.TSan) and not peer.no_aslr and "unexpected memory mapping" in self._text(scratch):
            self._without_aslr(peer)
            return self._once(unit, n)
        status, why = _status(end)
        try:
            reports = peer.read(out, w.files, env)
        except (Failure, OSError) as e:
            return {"status": "error", "why": str(e), "reports": []}
        if isinstance(peer, peers.Valgrind) and not out.exists():
            status, why = "error", reason_in(log)
        return {"status": status, "why": why, "reports": [r.record() for r in reports], "cpu": round(end.cpu, 2)}

    @staticmethod
    def _text(scratch):
        return "".join(p.read_text(errors="replace") for p in scratch.iterdir() if p.is_file())

    def _without_aslr(self, peer):
        with self._guard:
            if not peer.no_aslr:
                peer.no_aslr = True
                self.notes.append(f"{peer.name}: run under 'setarch -R': it does not bear this kernel's address randomisation")

    # Judging

    def _judge(self):
        for case in self.cases:
            defects = self._truth(case)
            if defects is None:
                continue
            for peer, column in self.columns:
                score = Score([d for d in defects if d.kind in column.claims])
                for fixed in (False, True):
                    for record in self.records.get((case.name, peer.name, fixed), ()):
                        if record["status"] == "not built":
                            continue
                        said = [Report(**r) for r in record["reports"]]
                        level = LEVELS.index(column.level)
                        score.add([r for r in said if r.kind in JUDGED and LEVELS.index(r.level) >= level], defects, fixed)
                self.scores[case.name, column.name] = score

    def bad_ends(self, case, peer, fixed):
        """[status] of runs that should not have ended so; each is a problem to be told."""
        fine = {"ok"} if fixed else {"ok", "fails"}
        runs = self.records.get((case.name, peer.name, fixed), ())
        bad = [r for r in runs if r["status"] not in fine]
        if not fixed and case.workload.expect_fail:
            bad = [r for r in bad if r["status"] in ("not built", "error")]
        return bad

    # Tables

    def _cells(self, case, peer, column):
        """TP, FP, misses, and the noise of the last two, as text."""
        if peer.missing:
            return ["missing", "", "", ""]
        bad, bad_twin = self.bad_ends(case, peer, False), self.bad_ends(case, peer, True)
        score = self.scores[case.name, column.name]
        if bad and bad[0]["status"] == "not built":
            return ["not built", "", "", ""]
        silent = bool(peer.note)
        tp = str(score.tp) if score.claimed or score.tp else ""
        fp = "" if silent else str(len(score.false))
        miss = str(len(score.missed)) if score.claimed else ""
        if bad:
            tp = f"{tp} {bad[0]['status']}".strip()
        if bad_twin:
            fp = f"{fp} {bad_twin[0]['status']}".strip()
        return [tp, fp, miss, str(score.unsure) if score.claimed else ""]

    def _native_cell(self, case):
        runs = self.records.get((case.name, "native", False), ())
        twin = self.records.get((case.name, "native", True), ())
        def told(records):
            bad = [r["status"] for r in records if r["status"] != "ok"]
            return "ok" if not bad else f"{len(bad)}/{len(records)} {bad[0]}"
        if not runs and not twin:
            return ""
        return told(runs) if told(twin) == "ok" else f"{told(runs)}; twin {told(twin)}"

    def _collect_problems(self):
        for peer in self.peers:
            if peer.missing:
                self.problems.append((peer.name, f"missing: {peer.missing}"))
            elif peer.note:
                self.notes.append(f"{peer.name}: {peer.note}")
        for case in self.cases:
            if self._truth(case) is None:
                continue
            for peer in self.peers:
                for fixed in (False, True):
                    self._tell_ends(case, peer, fixed)

    def _tell_ends(self, case, peer, fixed):
        runs = self.records.get((case.name, peer.name, fixed), ())
        who = f"{case.name}{' (twin)' if fixed else ''}, {peer.name}"
        if bad := self.bad_ends(case, peer, fixed):
            self.problems.append((who, f"{len(bad)} of {len(runs)} runs: {bad[0]['why']}"))
        elif ended := [r for r in runs if r["status"] not in ("ok", "fails")]:
            self.notes.append(f"{who}: {len(ended)} of {len(runs)} runs: {ended[0]['why']} (as its defect may make it)")

    def _no_truth(self):
        for case in self.cases:
            try:
                case.defects()
            except Failure as e:
                yield case, str(e)

    def _rows(self, broken):
        header = ["program", "defects", "native"]
        for _, column in self.columns:
            header += [f"{column.name} tp", f"{column.name} fp", f"{column.name} miss", f"{NOISE}{column.name} miss"]
        width = len(header)
        rows = []
        without = {case.name: why for case, why in self._no_truth()}
        for name, why in without.items():
            self.problems.append((name, why))
        for case in self.cases:
            if case.name in without:
                row = [case.name, "no truth", ""]
            else:
                row = [case.name, str(len(case.defects())), self._native_cell(case)]
                for peer, column in self.columns:
                    row += self._cells(case, peer, column)
            rows.append(row + [""] * (width - len(row)))
        rows += [[name, "not read"] + [""] * (width - 2) for name in broken]
        rows.append(self._totals())
        return header, rows

    def total(self, column):
        """(tp, fp, missed) over all cases; None where the tool says nothing at all."""
        peer = next(p for p, c in self.columns if c is column)
        if peer.missing or peer.note:
            return None
        scores = [s for (_, name), s in self.scores.items() if name == column.name]
        return sum(s.tp for s in scores), sum(len(s.false) for s in scores), sum(len(s.missed) for s in scores)

    def _totals(self):
        known = [c for c in self.cases if self._truth(c) is not None]
        row = ["total", str(sum(len(c.defects()) for c in known)), ""]
        for _, column in self.columns:
            total = self.total(column)
            unsure = sum(s.unsure for (_, name), s in self.scores.items() if name == column.name)
            row += [*map(str, total), str(unsure)] if total else ["", "", "", ""]
        return row

    def _defect_rows(self):
        header = ["program", "kind", "variable", "places", "verdict", *(c.name for _, c in self.columns)]
        rows = []
        for case in self.cases:
            for d in self._truth(case) or ():
                row = [case.name, d.kind, d.variable, "/".join(f"{f}:{n}" for f, n in d.pairs[0]), d.verdict]
                for peer, column in self.columns:
                    s = self.scores[case.name, column.name]
                    row.append(f"{s.hits.get(d, 0)}/{s.runs}" if (d.kind in column.claims or d in s.hits) and s.runs else "")
                rows.append(row)
        return header, rows

    def _false_rows(self):
        rows = []
        for case in self.cases:
            for peer, column in self.columns:
                score = self.scores.get((case.name, column.name))
                for report, where in score.false.values() if score else ():
                    rows.append([case.name, " and ".join(sorted(where)), column.name, report.level, report.text(), self._reason(case, report)])
        return ["program", "of", "tool", "level", "report", "reason"], rows

    def _reason(self, case, report):
        return self._reasons.get((case.workload.name, report.kind, report.variable), "")

    def _detector_rows(self):
        """Of each detector: the defects that it named at all, and what it suspected wrongly. A finding that rises from suspected to
        observed is the last one's, so 'race' has what others had suspected before."""
        rows = {}
        for case in self.cases:
            score = self.scores.get((case.name, "suspected"))
            for detector, defects in score.by.items() if score else ():
                row = rows.setdefault(detector, [0] * (len(KINDS) + 2))
                for d in defects:
                    row[KINDS.index(d.kind)] += 1
            for report, where in score.false.values() if score else ():
                row = rows.setdefault(report.said, [0] * (len(KINDS) + 2))
                row[-2] += "program" in where
                row[-1] += "twin" in where
        return ["detector", *KINDS, "false", "false on twins"], [[d, *map(str, row)] for d, row in sorted(rows.items())]

    def _unsuspected(self):
        """(text, why, or "") of the defects that no detector named."""
        for case in self.cases:
            score = self.scores.get((case.name, "suspected"))
            for d in score.missed if score and score.runs else ():
                why = self._unseen.get((case.workload.name, d.kind, d.variable), "")
                yield f"{case.name}: {d.label} at {'/'.join(f'{f}:{n}' for f, n in d.pairs[0])} ({d.verdict})", why

    def _detector_text(self, rows):
        if not any(column.name == "suspected" and not peer.note and not peer.missing for peer, column in self.columns):
            return []
        true = sum(s.tp for (_, name), s in self.scores.items() if name == "suspected")
        level = [0, 0]
        for row in rows:
            if row[2] == "suspected":
                level[row[3] != "suspected"] += 1
        missed = list(self._unsuspected())
        explained = [f"{text}: {why}" for text, why in missed if why]
        missed = [text for text, why in missed if not why]
        return ["\nDefects each detector named, by kind, and what it suspected wrongly", table.text(*self._detector_rows()),
                f"{true} defects named, {level[0]} false suspicions, {level[1]} false observations",
                f"\nDefects that no detector suspects ({len(missed)})", *missed,
                f"\nDefects that no run can show ({len(explained)})", *explained]

    def _results(self, broken):
        ours = [c.name for p, c in self.columns if p.builder == "deadheat"]
        results = Results("detect", self.peers, [f"{name} {what}" for name in ours for what in ("miss", "fp")])
        header, rows = self._rows(broken)
        self._collect_problems()
        results.tables = {"": (header, rows), "-defects": self._defect_rows(), "-false": self._false_rows(),
                          "-detectors": self._detector_rows()}
        results.failed = bool(self.problems)
        results.text = self._text_of(header, rows, results)
        return results

    def _false_text(self, rows):
        """All of deadheat's; of the peers' the first few, the others are in the table of their own."""
        ours = {c.name for p, c in self.columns if p.builder == "deadheat"}
        mine, others = [r for r in rows if r[2] in ours], [r for r in rows if r[2] not in ours]
        if not rows:
            return []
        # What was observed wrongly is in both columns; once is enough here.
        mine = [r for r in mine if r[2] != "suspected" or r[3] == "suspected"]
        lines = [f"{tool}: {name} ({of}): {text}{': ' if why else ''}{why}" for name, of, tool, _, text, why in mine + others[:_PEERS_SHOWN]]
        rest = len(others) - _PEERS_SHOWN
        return [f"\nFalse positives ({len(mine) + len(others)})", *lines, *([f"{rest} more of the peers' in detect-false.tsv"] if rest > 0 else [])]

    def _text_of(self, header, rows, results):
        shown = [i for i, h in enumerate(header) if not h.startswith(NOISE)]
        titles = [header[i] if i < 3 or header[i].endswith(" tp") else header[i].rsplit(" ", 1)[1] for i in shown]
        parts = ["Found (tp), wrongly reported (fp) and missed, against truth.tsv; an empty cell: not claimed by the tool",
                 table.text(titles, [[r[i] for i in shown] for r in rows]),
                 f"\nIn how many runs each defect was found ({self.opts.runs} runs, valgrind {min(self.opts.runs, self.opts.valgrind_runs)})",
                 table.text(*results.tables["-defects"])]
        parts += self._detector_text(results.tables["-false"][1])
        parts += self._false_text(results.tables["-false"][1])
        if self.problems:
            parts += [f"\nNot measured as it should be ({len(self.problems)})", *(f"{who}: {why}" for who, why in self.problems)]
        if self.notes:
            parts += ["\nNotes", *self.notes]
        return "\n".join(parts) + "\n"
