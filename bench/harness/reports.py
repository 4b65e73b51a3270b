"""What the tools say, read into one form: TSan's text, valgrind's XML, deadheat's JSON."""
import dataclasses
import json
import os
import re
import xml.etree.ElementTree as ET

LEVELS = ("suspected", "observed", "proven")


@dataclasses.dataclass
class Report:
    """kind as in truth.tsv, or one that has no row there. lines: of a race its (at most) two accesses, else every place named."""
    kind: str
    lines: list  # [file, line], the innermost in the program's own files
    variable: str = ""
    whole: bool = False  # variable names the whole object: the tool does not tell fields
    level: str = "observed"
    said: str = ""  # the tool's own words, for the list of what does not fit

    def text(self):
        where = " / ".join(f"{f}:{n}" for f, n in self.lines) or "no line of the program"
        return f"{self.kind} at {where}" + (f" on {self.variable}" if self.variable else "") + (f" ({self.said})" if self.said else "")

    def record(self):
        return dataclasses.asdict(self)


def _own_place(frames, own):
    """The innermost frame in one of the program's own files."""
    for name, line in frames:
        if os.path.basename(name) in own and line:
            return [os.path.basename(name), line]
    return None


def _places(stacks, own):
    return [place for place in (_own_place(frames, own) for frames in stacks) if place]


# ThreadSanitizer

_TSAN_REPORT = re.compile(r"^WARNING: ThreadSanitizer: (.+?) \(pid=\d+\)$(.*?)^(?:SUMMARY: |={10,})", re.M | re.S)
_TSAN_FRAME = re.compile(r"^    #\d+ (.*?) ([^\s:]+):(\d+)(?::\d+)?(?: \(|$)")
_TSAN_ALLOCATION = re.compile(r"^    #0 (malloc|calloc|realloc|free|posix_memalign|aligned_alloc|operator (new|delete))\b")
_TSAN_GLOBAL = re.compile(r"^  Location is global '([^'?]+)'", re.M)
_TSAN_KINDS = (("data race", "race"), ("heap-use-after-free", "use-after-free"), ("lock-order-inversion", "deadlock"))


def _tsan_stacks(body):
    """[(headline, frames)] of the paragraphs of a report. An allocation that TSan shows as the other access (the object's first
    use was not recorded) is no access of the program: the report has one place then."""
    stacks, allocation = [], False
    for line in body.splitlines():
        if line.startswith("  ") and line.endswith(":"):
            stacks.append((line.strip(), []))
        elif _TSAN_ALLOCATION.match(line):
            allocation = True
        elif line.startswith("    #0 "):
            allocation = False
        if (m := _TSAN_FRAME.match(line)) and stacks and not allocation:
            stacks[-1][1].append((m.group(2), int(m.group(3))))
    return stacks


def tsan(text, own):
    found = []
    for m in _TSAN_REPORT.finditer(text + "\n==========\n"):
        title, body = m.groups()
        kind = next((k for start, k in _TSAN_KINDS if title.startswith(start)), "other")
        wanted = r"Mutex" if kind == "deadlock" else r"(Previous |\[failed)?(atomic )?(read|write)"
        stacks = [s for head, s in _tsan_stacks(body) if re.match(wanted, head, re.I)]
        name = _TSAN_GLOBAL.search(body)
        found.append(Report(kind, _places(stacks, own), name.group(1) if name else "", bool(name), said="" if kind == "race" else title))
    return found


# Valgrind

_VG_ERROR = re.compile(r"<error>.*?</error>", re.S)
_VG_FIELD = re.compile(r"inside ([A-Za-z_][\w.\[\]]*),$")
_VG_NAME = re.compile(r'inside (?:\w+ )*(?:var|symbol) "([^"]+)"')
_VG_KINDS = {"Race": "race", "ConflictingAccess": "race", "LockOrder": "deadlock"}


def _vg_frames(stack):
    return [(f.findtext("file", ""), int(f.findtext("line", "0"))) for f in stack.iter("frame")]


def _vg_stacks(error, kind):
    """A race's own stack and the one 'conflicts with' announces; of a lock order all three acquisitions."""
    stacks, wanted = [], True
    for part in error:
        text = part.text or "" if part.tag == "auxwhat" else part.findtext("text", "")
        if part.tag in ("auxwhat", "xauxwhat"):
            wanted = "conflicts with a previous" in text or (kind == "deadlock" and "acquisition" in text)
        elif part.tag == "stack" and wanted:
            stacks.append(_vg_frames(part))
            wanted = False
    return stacks


def _vg_variable(error):
    for part in error.iter("auxwhat"):
        text = (part.text or "").strip()
        if m := _VG_FIELD.search(text):
            return m.group(1), False
        if m := _VG_NAME.search(text):
            return m.group(1), True
    return "", False


_VG_ADDRESS = re.compile(r"at (0x[0-9a-f]+) size \d+$")


def valgrind(text, own, symbol=lambda address: ""):
    """Error by error, so that the file of a run that was ended early can be read as well. drd names no globals without reading all
    debug information, which takes seconds: symbol() tells whose the address is."""
    found = []
    for block in _VG_ERROR.findall(text):
        error = ET.fromstring(re.sub(r"[^\x09\x0a\x20-\ufffd]", "?", block))
        kind = _VG_KINDS.get(error.findtext("kind"), "other")
        said = "" if kind == "race" else error.findtext("what") or error.findtext("xwhat/text") or ""
        name, whole = _vg_variable(error)
        if not name and (m := _VG_ADDRESS.search(error.findtext("what", ""))):
            name, whole = symbol(int(m.group(1), 16)), True
        found.append(Report(kind, _places(_vg_stacks(error, kind), own), name, whole, said=said))
    return found


# deadheat

def _dh_frames(access):
    frames = [(f.get("file") or "", f.get("line") or 0) for f in access.get("stack") or []]
    return [(access.get("file") or "", access.get("line") or 0), *frames]


def deadheat(text, own):
    """JSON of 'deadheat report'; raises ValueError or KeyError when it is not that."""
    data = json.loads(text)
    if data["version"] != 1:
        raise ValueError(f"version {data['version']} of deadheat's JSON is not known here")
    return [Report(f["kind"], _places([_dh_frames(a) for a in f["accesses"]], own), f.get("variable") or "", False, f["level"],
                   f.get("detector") or "") for f in data["findings"]]
