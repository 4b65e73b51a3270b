"""leveldb: C++, a background thread that compacts; driven by its C interface test and by two writers."""
from harness.planted import STUCK, UNORDERED, WRONG, Chained, Job, Plant, Sight

ENV, DB = "util/env_posix.cc", "db/db_impl.cc"
WRITERS = "leveldb-writers.cc"
TAKE = """    background_work_mutex_.Lock();

    // Wait until there is work to be done.
    while (background_work_queue_.empty()) {
      background_work_cv_.Wait();
    }
"""
TAKE_UNSEEN = """    bool idle = background_work_queue_.empty();
    background_work_mutex_.Lock();

    // Wait until there is work to be done.
    while (idle) {
      background_work_cv_.Wait();
      idle = background_work_queue_.empty();
    }
"""


class Leveldb(Chained):
    package = "leveldb"
    executables = ("writers",)
    jobs = (Job("writers", ("writers",)),)
    plants = (
        Plant("queue-lock", "lock", ENV, "  background_work_queue_.emplace(background_work_function, background_work_arg);\n  background_work_mutex_.Unlock();",
              "  background_work_mutex_.Unlock();\n  background_work_queue_.emplace(background_work_function, background_work_arg);",
              (Sight(UNORDERED, functions=("Schedule",)), Sight(WRONG + STUCK, functions=("BackgroundThreadMain",)))),
        Plant("last-sequence", "lock", DB, "    versions_->SetLastSequence(last_sequence);\n  }\n\n  while (true) {",
              "    mutex_.Unlock();\n    versions_->SetLastSequence(last_sequence);\n    mutex_.Lock();\n  }\n\n  while (true) {",
              (Sight(UNORDERED, variables=("*last_sequence_",)),)),
        Plant("shutdown-wait", "join", DB, "  while (background_compaction_scheduled_) {\n    background_work_finished_signal_.Wait();\n  }\n  mutex_.Unlock();",
              "  mutex_.Unlock();", (Sight(UNORDERED + WRONG, functions=("~DBImpl",)), Sight(("use-after-free", *WRONG), functions=("BackgroundCall",)))),
        Plant("new-head", "signal", DB, "  if (!writers_.empty()) {\n    writers_.front()->cv.Signal();\n  }\n\n  return status;", "  return status;",
              (Sight(STUCK, functions=("DBImpl::Write",)),)),
        Plant("queue-check", "check", ENV, TAKE, TAKE_UNSEEN, (Sight(UNORDERED + STUCK, functions=("BackgroundThreadMain",)),)),
    )

    def configure(self, b):
        b.run("cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Debug", "-DLEVELDB_BUILD_TESTS=OFF", "-DLEVELDB_BUILD_BENCHMARKS=OFF",
              "-DCMAKE_CXX_FLAGS=-O1 -g", "-DHAVE_SNAPPY=0", "-DHAVE_CRC32C=0", "-DHAVE_TCMALLOC=0",
              "-DHAVE_CLANG_THREAD_SAFETY=0")  # plants break what annotations promise

    def build(self, b):
        b.make(cwd="build")
        b.run(*b.tool.cxx.split(), "-O1", "-g", "-pthread", "-std=c++17", "-Iinclude", str(self.clients / WRITERS), "-o", "writers", "build/libleveldb.a")


PROGRAM = Leveldb
