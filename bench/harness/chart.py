"""Charts, as SVG by gnuplot."""
import math
import os
import shutil
import subprocess

from .proc import Failure

COLOURS = {"deadheat": "#1b6ca8", "observed": "#4c8fc4", "suspected": "#7fb3d8", "tsan": "#d9822b", "gcc-tsan": "#f0b775", "helgrind": "#8a8f98", "drd": "#c3c7cd"}
_SPARE = ("#2a9d8f", "#6a4c93", "#b5838d", "#577590")
FOUND, PARTLY, MISSED, FALSE, GROUND, INK = "#3a9d5d", "#e9c46a", "#d1495b", "#8d5a97", "#eceff2", "#30363d"
FALSE_ONLY = "#dccbe1"  # nothing there to find, and yet reported




def _key(height):
    """In one line, right below the headline."""
    return f"set key at screen 0.97,{1 - 62 / height} right top horizontal samplen 1.2 maxrows 1"


def colour(name, index):
    return COLOURS.get(name, _SPARE[index % len(_SPARE)])


def _quoted(text):
    return '"' + str(text).replace("\\", "\\\\").replace('"', "'").replace("\n", "\\n") + '"'


def _gnuplot(script, path):
    if not shutil.which("gnuplot"):
        raise Failure("gnuplot is missing")
    fresh = path.with_suffix(".new")
    done = subprocess.run(["gnuplot", "-"], input=script.replace("@OUT@", str(fresh)), capture_output=True, text=True, check=False)
    if done.returncode != 0 or not fresh.exists():
        raise Failure(f"gnuplot: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'no chart'}")
    os.replace(fresh, path)


def _opening(width, height):
    return [f"set terminal svg size {width},{height} dynamic enhanced font 'DejaVu Sans,13' background 'white'", "set output '@OUT@'",
            "set encoding utf8", f"set border lc rgb '{INK}'", f"set title tc rgb '{INK}'", "set style fill solid 1.0 noborder",
            "unset mouse", "short(x) = sprintf(x >= 99.5 ? '%.0f' : x >= 9.95 ? '%.1f' : '%.2f', x)"]


def _block(name, lines):
    return [f"${name} << EOD", *lines, "EOD"]


def _headline(title, results):
    return f"{{/:Bold=16 {title}}}\n{{/=11 {_plain(results.subtitle())}}}"


def _plain(text):
    """Without what enhanced text would take as markup."""
    return str(text).replace("_", "\\_").replace("@", "\\@").replace("^", "\\^")


# Detection: totals as bars, and under them a field for each program and tool

def _field_colour(score, peer):
    if peer.missing or peer.note:
        return GROUND
    if not (score.claimed or score.tp):
        return FALSE_ONLY if score.false else GROUND
    if not score.missed:
        return FOUND
    return PARTLY if score.tp else MISSED


def detection(path, job, results):
    columns = [c for _, c in job.columns]
    cases = [c for c in job.cases if (c.name, columns[0].name) in job.scores] if columns else []
    if not cases or not any(job.total(c) for c in columns):
        raise Failure("nothing to draw")
    bars = []
    for i, column in enumerate(columns):
        tp, fp, miss = job.total(column) or ("NaN",) * 3
        name = _plain(column.name) if tp != "NaN" else f"{{/:Italic {_plain(column.name)}: nothing yet}}"
        bars.append(f"{_quoted(name)} {tp} {miss} {fp}")
    # Two panels side by side keep the fields near square however many programs there are.
    half = math.ceil(len(cases) / 2) if len(cases) > 12 else len(cases)
    rows = max(half, 1)
    width, top, height = 1000, 330, 330 + 60 + rows * 24 + 40
    s = _opening(width, height) + _block("bars", bars)
    headline = _quoted(_headline("What the tools find in the workloads", results))
    s += ["set multiplot", f"set label 1 {headline} at screen 0.5,{1 - 22 / height} center",
          f"set tmargin at screen {1 - 95 / height}", f"set bmargin at screen {1 - top / height + 40 / height}",
          "set lmargin at screen 0.08", "set rmargin at screen 0.97",
          "set style data histogram", "set style histogram clustered gap 1", "set boxwidth 0.9", "set yrange [0:*]",
          "set grid y lc rgb '#dddddd'",
          _key(height), "set ylabel 'defects, reports'", "set xtics nomirror scale 0",
          "set ytics nomirror", "set border 3", "set offsets 0,0,graph 0.1,0"]
    plots = [(2, FOUND, "found"), (3, MISSED, "missed"), (4, FALSE, "false positives")]
    s.append("plot " + ", ".join(f"$bars using {c}:xtic(1) lc rgb '{k}' title '{t}'" for c, k, t in plots) + ", " +
             ", ".join(f"'' using ($0{off:+}):{c}:(sprintf('%d',column({c}))) with labels offset 0,0.6 font ',10' notitle"
                       for (c, _, _), off in zip(plots, (-0.25, 0, 0.25))))
    s += ["unset label", "unset grid", "unset key", "unset ylabel", "unset title", "unset offsets", "set border 0"]
    groups = [cases[:half], cases[half:]]
    for g, group in enumerate(x for x in groups if x):
        left = 0.15 + 0.5 * g
        right = left + 0.33 if len(cases) > half else 0.97
        s += _fields(job, group, rows, columns, g, left, right, 1 - (top + 40) / height, 40 / height)
    legend = [(FOUND, "all found"), (PARTLY, "some found"), (MISSED, "none found"), (FALSE_ONLY, "false only"),
              ("#c9ced4", "nothing claimed, nothing said")]
    for i, (shade, text) in enumerate(legend):
        s.append(f"set label {50 + i} {_quoted(f'■ {text}')} at screen {0.06 + 0.135 * i},{15 / height} left tc rgb '{shade}' font ',12'")
    s += [f"set label 60 {_quoted('number: false positives')} at screen 0.97,{15 / height} right tc rgb '{INK}' font ',12'",
          "set xrange [0:1]", "set yrange [0:1]", "unset xtics", "unset ytics", "plot -1 notitle", "unset multiplot"]
    _gnuplot("\n".join(s) + "\n", path)


def _fields(job, cases, rows, columns, index, left, right, upper, lower):
    boxes, labels, tics = [], [], []
    for y, case in enumerate(cases):
        tics.append(f"{_quoted(_plain(case.name))} {rows - y}")
        for x, (peer, column) in enumerate(job.columns):
            score = job.scores[case.name, column.name]
            shade = int(_field_colour(score, peer)[1:], 16)
            boxes.append(f"{x + 1} {rows - y} 0.46 0.42 {shade}")
            if score.false and not peer.note:
                ink = INK if shade in (int(c[1:], 16) for c in (GROUND, FALSE_ONLY, PARTLY)) else "#ffffff"
                labels.append(f"{x + 1} {rows - y} {len(score.false)} {int(ink[1:], 16)}")
    s = _block(f"boxes{index}", boxes) + _block(f"labels{index}", labels or ["-9 -9 0 0"])
    names = ", ".join(f"{_quoted(_plain(c.name))} {i + 1}" for i, c in enumerate(columns))
    return s + [f"set lmargin at screen {left}", f"set rmargin at screen {right}", f"set tmargin at screen {upper}",
                f"set bmargin at screen {lower}", f"set xrange [0.4:{len(columns) + 0.6}]", f"set yrange [0.4:{rows + 0.6}]",
                f"set ytics ({', '.join(tics)}) scale 0 font ',11'", f"set x2range [0.4:{len(columns) + 0.6}]", "unset xtics",
                f"set x2tics ({names}) scale 0 font ',11' rotate by 0 offset 0,-0.4",
                f"plot $boxes{index} using 1:2:3:4:5 with boxxyerror fs solid lc rgb variable notitle, "
                f"$labels{index} using 1:2:(sprintf('%d',$3)):4 with labels tc rgb variable font ',11' notitle", "unset x2tics"]


# Speed

def speed(path, groups, ratios, added, results):
    """ratios: {tool: [value or None for each group]}, the same for added (of TSan's)."""
    ratios, added = ({t: values for t, values in series.items() if any(v is not None for v in values)} for series in (ratios, added))
    if not ratios:
        raise Failure("nothing to draw")
    width, height = max(1000, 170 + (26 * len(ratios) + 24) * len(groups)), 720
    top = max([v for values in ratios.values() for v in values if v is not None], default=1)
    most = max([v for values in added.values() for v in values if v is not None], default=1)
    s = _opening(width, height)
    s += ["set multiplot", f"set label 1 {_quoted(_headline('CPU time beside native', results))} at screen 0.5,{1 - 22 / height} center",
          "set style data histogram", "set style histogram clustered gap 1", "set boxwidth 0.92", "set xtics nomirror scale 0",
          "set ytics nomirror", "set border 3", "set lmargin at screen 0.09", "set rmargin at screen 0.98", "set grid y lc rgb '#dddddd'"]
    s += _bars("ratios", groups, ratios)
    s += ["set tmargin at screen 0.87", "set bmargin at screen 0.52", "set logscale y", "set ylabel 'times native (valgrind: test size)'",
          f"set yrange [0.7:{top * 2:.4g}]",
          _key(height), _bars_plot("ratios", ratios, "1"), "unset label 1"]
    if added:
        s += _bars("added", groups, added)
        s += ["unset key", "unset logscale y", "set tmargin at screen 0.43", "set bmargin at screen 0.07", "set ylabel \"added cost, TSan's = 1\"",
              f"set yrange [0:{max(most, 1) * 1.12:.4g}]", "set format y '%g'", _bars_plot("added", added, "1")]
    _gnuplot("\n".join(s + ["unset multiplot"]) + "\n", path)


# Real programs

def real(path, loads, kept, programs, found, results):
    """kept: {tool: [share of native's throughput or None for each load]}; found: {tool: [findings or None for each program]}."""
    kept, found = ({t: values for t, values in series.items() if any(v is not None for v in values)} for series in (kept, found))
    if not kept:
        raise Failure("nothing to draw")
    width, height = max(1000, 150 + (30 * len(kept) + 24) * len(loads)), 720 if found else 440
    upper, most = (0.50, max([v or 0 for values in found.values() for v in values])) if found else (0.13, 0)
    s = _opening(width, height)
    s += ["set multiplot", f"set label 1 {_quoted(_headline('Throughput that real programs keep', results))} at screen 0.5,{1 - 22 / height} center",
          "set style data histogram", "set style histogram clustered gap 1", "set boxwidth 0.92", "set xtics nomirror scale 0",
          "set ytics nomirror", "set border 3", "set lmargin at screen 0.08", "set rmargin at screen 0.98", "set grid y lc rgb '#dddddd'"]
    s += _bars("kept", loads, kept)
    s += [f"set tmargin at screen {1 - 95 / height}", f"set bmargin at screen {upper}", "set ylabel 'native = 1'",
          f"set yrange [0:{max(1, *(v or 0 for values in kept.values() for v in values)) * 1.12:.4g}]", _key(height), _bars_plot("kept", kept, "1"),
          "unset label 1"]
    if found:
        s += _bars("found", programs, found)
        s += [f"set tmargin at screen {upper - 90 / height}", "set bmargin at screen 0.06", "set ylabel 'distinct findings'",
              "short(x) = sprintf('%d', x)", f"set yrange [0:{max(most, 1) * 1.12:.4g}]",
              f"set key at screen 0.97,{upper - 60 / height} right top horizontal samplen 1.2 maxrows 1", _bars_plot("found", found, "NaN")]
    _gnuplot("\n".join(s + ["unset multiplot"]) + "\n", path)


def _bars(name, groups, series):
    def cell(v):
        return "NaN" if v is None else f"{v:.4g}"
    return _block(name, [f"{_quoted(_plain(g))} " + " ".join(cell(values[i]) for values in series.values()) for i, g in enumerate(groups)])


def _bars_plot(name, series, line):
    count = len(series)
    parts = [f"${name} using {i + 2}:xtic(1) lc rgb '{colour(t, i)}' title {_quoted(_plain(t))}" for i, t in enumerate(series)]
    step = 1 / (count + 1)
    parts += [f"'' using ($0{(i - (count - 1) / 2) * step:+.3f}):{i + 2}:(short(column({i + 2}))) with labels offset 0,0.5 "
              f"font ',9' notitle" for i in range(count)]
    return "plot " + ", ".join([*parts, f"{line} lc rgb '{INK}' lw 1 dt 2 notitle"])
