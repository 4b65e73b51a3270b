"""oneTBB: C++, a work-stealing thread pool in libtbb.so; a client that sums in parallel and runs tasks from two threads, and ends the pool."""
from harness.planted import STUCK, UNORDERED, WRONG, Chained, Job, Plant, Sight

MARKET, MONITOR = "src/tbb/market.cpp", "src/tbb/concurrent_monitor.h"
DEMAND = """        arenas_list_mutex_type::scoped_lock lock(my_arenas_list_mutex);
        __TBB_ASSERT(theMarket != nullptr, "market instance was destroyed prematurely?");
#if __TBB_ENQUEUE_ENFORCED_CONCURRENCY
        if (mandatory) {
"""
NOTIFY = """            concurrent_monitor_mutex::scoped_lock l(my_mutex);
            my_epoch.store(my_epoch.load( std::memory_order_relaxed ) + 1, std::memory_order_relaxed);
            for (base_node* n = my_waitset.last(); n != end; n = nxt) {
"""
WAIT = """        prepare_wait(node);
        while (!guarded_call(std::forward<Pred>(pred), node)) {
            if (commit_wait(node)) {
                return true;
            }

            prepare_wait(node);
        }

        cancel_wait(node);
        return false;
"""
WAIT_UNSEEN = """        while (!guarded_call(std::forward<Pred>(pred), node)) {
            prepare_wait(node);
            if (commit_wait(node)) {
                return true;
            }
        }

        return false;
"""


class Tbb(Chained):
    package = "onetbb"
    executables = ("tbb-sum",)
    jobs = (Job("sum", ("tbb-sum",), 0, (("LD_LIBRARY_PATH", "{tree}/build/libraries_release"),)),)
    plants = (
        Plant("arena-list", "lock", MARKET, "    arenas_list_mutex_type::scoped_lock lock(m.my_arenas_list_mutex);\n    m.insert_arena_into_list(a);\n",
              "    m.insert_arena_into_list(a);\n", (Sight(UNORDERED + WRONG, functions=("create_arena",)),)),
        Plant("adjust-demand", "lock", MARKET, DEMAND, DEMAND.partition("\n")[2], (Sight(UNORDERED + WRONG, functions=("adjust_demand",)),)),
        Plant("notify-list", "lock", MONITOR, NOTIFY, NOTIFY.partition("\n")[2], (Sight(UNORDERED + WRONG, functions=("notify_relaxed",)),)),
        Plant("wait-check", "check", MONITOR, WAIT, WAIT_UNSEEN, (Sight(STUCK, functions=("commit_wait",)),)),
    )
    build_limit = 1800

    def configure(self, b):
        b.run("cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release", "-DTBB_TEST=OFF", "-DTBBMALLOC_BUILD=OFF", "-DTBB_STRICT=OFF",
              "-DCMAKE_CXX_FLAGS=-O1 -g", "-DTBB_OUTPUT_DIR_BASE=libraries")

    def build(self, b):
        b.make("tbb", cwd="build")
        b.run(*b.tool.cxx.split(), "-O1", "-g", "-pthread", "-std=c++17", "-Iinclude", str(self.clients / "tbb-sum.cc"), "-o", "tbb-sum",
              "-Lbuild/libraries_release", "-ltbb")


PROGRAM = Tbb
