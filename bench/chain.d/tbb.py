"""oneTBB: C++, a work-stealing thread pool in libtbb.so; a client that sums in parallel and runs tasks."""
from harness.planted import Chained, Job


class Tbb(Chained):
    package = "onetbb"
    executables = ("tbb-sum",)
    jobs = (Job("sum", ("tbb-sum",), 0, (("LD_LIBRARY_PATH", "{tree}/libraries"),)),)
    build_limit = 1800

    def configure(self, b):
        b.run("cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release", "-DTBB_TEST=OFF", "-DTBBMALLOC_BUILD=OFF", "-DTBB_STRICT=OFF",
              "-DCMAKE_CXX_FLAGS=-O1 -g", f"-DCMAKE_LIBRARY_OUTPUT_DIRECTORY={b.dir}/libraries")

    def build(self, b):
        b.make("tbb", cwd="build")
        b.run(*b.tool.cxx.split(), "-O1", "-g", "-pthread", "-std=c++17", "-Iinclude", str(self.clients / "tbb-sum.cc"), "-o", "tbb-sum",
              "-Llibraries", "-ltbb")


PROGRAM = Tbb
