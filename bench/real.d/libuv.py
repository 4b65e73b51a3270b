"""libuv: CMake; its own tests, linked statically and with libuv.so. What fails natively here may fail with us too, nothing else may."""
import re

from harness.proc import Failure
from harness.program import Program

TRIES = 3  # a test fails when it fails this many times alone; several depend on time
AS_ROOT = {"UV_RUN_AS_ROOT": "1"}  # they refuse root unless told; nothing changes for other users


def results(text):
    """{test: passed}; skipped tests count as passed."""
    return {name: not bad for bad, name in re.findall(r"^(not )?ok \d+ - (\S+)", text, re.M)}


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
        for name in [n for n, passed in found.items() if not passed]:
            found[name] = any(self._alone(r, program, name) for _ in range(TRIES))
        return found

    def _alone(self, r, program, name):
        return r.run(program, name, cwd=r.dir, check=False, limit=120, env=AS_ROOT).rc == 0

    def drive(self, r):
        return {program: self._suite(r, program) for program in self.executables}

    def summary(self, seen):
        tests = [passed for suite in seen.values() for passed in suite.values()]
        bad = sorted({name for suite in seen.values() for name, passed in suite.items() if not passed})
        return f"{sum(tests)}/{len(tests)}" + (f" without {' '.join(bad)}" if bad else "")

    def compare(self, plain, mine):
        for program, expected in plain.items():
            lost = [n for n in expected if n not in mine[program]]
            worse = [n for n, passed in expected.items() if passed and not mine[program].get(n, True)]
            if lost or worse:
                raise Failure(f"{program}: {len(worse)} of {len(expected)} tests fail only here: {' '.join(worse[:10])}; "
                              f"{len(lost)} not run: {' '.join(lost[:10])}")


PROGRAM = Libuv
