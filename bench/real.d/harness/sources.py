"""Debian source packages, fetched with an apt configuration of our own: the machine's source lists are read, never changed."""
import os
import re
import shutil
import subprocess
from pathlib import Path

from .proc import Failure, run


def _apt_dirs():
    out = subprocess.run(["apt-config", "shell", "LIST", "Dir::Etc::sourcelist/f", "PARTS", "Dir::Etc::sourceparts/d"],
                         capture_output=True, text=True, check=True).stdout
    found = dict(re.findall(r"(\w+)='([^']*)'", out))
    return Path(found["LIST"]), Path(found["PARTS"])


def _one_line_entries(text):
    for line in text.splitlines():
        if re.match(r"deb(-src)?\s", line.strip()):
            yield re.sub(r"^deb(-src)?\b", "deb-src", line.strip())


def _stanzas(text):
    for stanza in re.split(r"\n\s*\n", text):
        if not re.search(r"^Types:.*\bdeb", stanza, re.M) or re.search(r"^Enabled:\s*(no|false)", stanza, re.M | re.I):
            continue
        yield re.sub(r"^Types:.*$", "Types: deb-src", stanza.strip(), flags=re.M)


def source_entries():
    """The machine's binary package sources, as (one-line entries, deb822 stanzas) for source packages."""
    single, parts = _apt_dirs()
    files = [single, *(sorted(parts.iterdir()) if parts.is_dir() else [])]
    lines, stanzas = [], []
    for f in files:
        if not f.is_file():
            continue
        text = f.read_text(errors="replace")
        if f.suffix == ".list":
            lines += _one_line_entries(text)
        elif f.suffix == ".sources":
            stanzas += _stanzas(text)
    return list(dict.fromkeys(lines)), list(dict.fromkeys(stanzas))


class Sources:
    """The cache's download and unpacked source trees."""

    def __init__(self, cache, env):
        self.cache, self.env = cache, env
        self.apt, self.log = cache / "apt", cache / "log" / "apt.log"
        self.updated = False

    def _apt_get(self, *args, cwd, check=True):
        options = {"Dir::Etc::sourcelist": "-", "Dir::Etc::sourceparts": self.apt / "sources.d",
                   "Dir::State::lists": self.apt / "lists", "Dir::Cache": self.apt / "cache"}
        argv = ["apt-get", "-q"]
        for key, value in options.items():
            argv += ["-o", f"{key}={value}"]
        if os.geteuid() == 0:  # the download user may not see a private cache
            argv += ["-o", "APT::Sandbox::User=root"]
        return run([*argv, *args], cwd=cwd, env=self.env, log=self.log, limit=300, check=check)

    def _update(self):
        if self.updated:
            return
        for d in ("sources.d", "lists/partial", "cache/archives/partial"):
            (self.apt / d).mkdir(parents=True, exist_ok=True)
        lines, stanzas = source_entries()
        if not lines and not stanzas:
            raise Failure("apt: the machine has no package sources")
        (self.apt / "sources.d" / "bench.list").write_text("\n".join(lines) + "\n")
        (self.apt / "sources.d" / "bench.sources").write_text("\n\n".join(stanzas) + "\n")
        # A third-party archive may have no sources; what counts is whether the package is found.
        self._apt_get("update", cwd=self.apt, check=False)
        self.updated = True

    def fetch(self, package, again=False):
        """The unpacked tree of a source package (pristine: copy before building) and its version."""
        home = self.cache / "src" / package
        done = home / "fetched"
        if again or not done.exists():
            shutil.rmtree(home, ignore_errors=True)
            home.mkdir(parents=True)
            self._update()
            self._apt_get("source", "--download-only", package, cwd=home)
            dsc = next(home.glob("*.dsc"), None)
            if not dsc:
                raise Failure(f"apt: no source package {package}")
            run(["dpkg-source", "--no-check", "-x", dsc.name, "tree"], cwd=home, env=self.env, log=self.log, limit=120)
            version = re.search(r"^Version:\s*(\S+)", dsc.read_text(errors="replace"), re.M)
            done.write_text(version.group(1) + "\n")
        return home / "tree", done.read_text().strip()
