"""oneTBB: C++, a work-stealing thread pool in libtbb.so; a client that sums in parallel and runs tasks."""
from harness.planted import Chained, Job


class Tbb(Chained):
    package = "onetbb"
    executables = ("tbb-sum",)
    jobs = (Job("sum", ("tbb-sum",), 0, (("LD_LIBRARY_PATH", "{tree}/build/libraries_release"),)),)
    build_limit = 1800

    def configure(self, b):
        b.run("cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release", "-DTBB_TEST=OFF", "-DTBBMALLOC_BUILD=OFF", "-DTBB_STRICT=OFF",
              "-DCMAKE_CXX_FLAGS=-O1 -g", "-DTBB_OUTPUT_DIR_BASE=libraries")

    def build(self, b):
        b.make("tbb", cwd="build")
        b.run(*b.tool.cxx.split(), "-O1", "-g", "-pthread", "-std=c++17", "-Iinclude", str(self.clients / "tbb-sum.cc"), "-o", "tbb-sum",
              "-Lbuild/libraries_release", "-ltbb")


PROGRAM = Tbb
