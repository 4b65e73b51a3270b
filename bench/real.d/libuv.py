"""libuv: CMake; its own tests, linked statically and with libuv.so. What fails natively here may fail with us too, nothing else may."""
import re

from harness.proc import Failure, run
from harness.program import Program

TRIES = 3  # a test that fails is tried so often alone; several depend on time and on the network
AS_ROOT = {"UV_RUN_AS_ROOT": "1"}  # they refuse root unless told; nothing changes for other users


def results(text):
    """{test: "passed" or "failed"}; skipped tests count as passed."""
    return {name: "failed" if bad else "passed" for bad, name in re.findall(r"^(not )?ok \d+ - (\S+)", text, re.M)}


class Libuv(Program):
    package = "libuv1"
    executables = ("build/uv_run_tests_a", "build/uv_run_tests")
    libraries = ("build/libuv.so",)
    harmless = ("--list",)
    drive_limit = 900

    def configure(self, b):
        b.run("cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=RelWithDebInfo")

    def build(self, b):
        b.make(cwd="build")

    def environment(self, place):
        return AS_ROOT

    def _suite(self, r, program):
        # The tests look for test/fixtures in the working directory.
        found = results(r.output(program, cwd=r.dir, check=False, env=AS_ROOT))
        if not found:
            raise Failure(f"{program}: no test ran ({r.out})")
        for name in [n for n, result in found.items() if result == "failed"]:
            if any(self._passes(r, program, name) for _ in range(TRIES)):
                found[name] = "unstable"
            elif not all(self._passes_natively(r, program, name) for _ in range(TRIES)):
                found[name] = "native failure"
        return found

    def _passes(self, r, program, name):
        return r.run(program, name, cwd=r.dir, check=False, limit=120, env=AS_ROOT).rc == 0

    def _passes_natively(self, r, program, name):
        plain = r.plain(program)
        return run([plain, name], cwd=plain.parents[1], env=dict(r.env, **AS_ROOT), log=r.out, limit=120, check=False).rc == 0

    def drive(self, r):
        return {program: self._suite(r, program) for program in self.executables}

    def summary(self, seen):
        tests = [result for suite in seen.values() for result in suite.values()]
        kinds = {kind: tests.count(kind) for kind in ("unstable", "native failure") if kind in tests}
        return ", ".join([f"{tests.count('passed')}/{len(tests)}", *(f"{n} {kind}" for kind, n in kinds.items())])

    def compare(self, plain, mine):
        for program, expected in plain.items():
            lost = [n for n in expected if n not in mine[program]]
            worse = [n for n, result in mine[program].items() if result == "failed"]
            if lost or worse:
                raise Failure(f"{program}: {len(worse)} of {len(expected)} tests fail only here: {' '.join(worse[:10])}; "
                              f"{len(lost)} not run: {' '.join(lost[:10])}")


PROGRAM = Libuv
