"""One table, as aligned text and as TSV."""


def text(header, rows):
    rows = [[str(c) for c in r] for r in rows]
    width = [max(len(r[i]) for r in [header, *rows]) for i in range(len(header))]
    number = [all(_numeric(r[i]) for r in rows) and bool(rows) for i in range(len(header))]
    out = []
    for r in [header, ["-" * w for w in width], *rows]:
        cells = [c.rjust(w) if n else c.ljust(w) for c, w, n in zip(r, width, number)]
        out.append("  ".join(cells).rstrip())
    return "\n".join(out)


def _numeric(cell):
    return cell in ("", "-") or cell.rstrip("x%").replace(".", "", 1).isdigit()


def tsv(header, rows):
    return "\n".join("\t".join(str(c).replace("\t", " ") for c in r) for r in [header, *rows]) + "\n"
