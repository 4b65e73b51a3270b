"""libuv: its thread pool and its loop, by a client that queues work, cancels and wakes the loop from a thread."""
from harness.planted import STUCK, UNORDERED, WRONG, Chained, Job, Plant, Sight

POOL = "src/threadpool.c"
POST = """  uv_mutex_lock(&mutex);
  if (kind == UV__WORK_SLOW_IO) {
    /* Insert into a separate queue. */
    QUEUE_INSERT_TAIL(&slow_io_pending_wq, q);
    if (!QUEUE_EMPTY(&run_slow_work_message)) {
      /* Running slow I/O tasks is already scheduled => Nothing to do here.
         The worker that runs said other task will schedule this one as well. */
      uv_mutex_unlock(&mutex);
      return;
    }
    q = &run_slow_work_message;
  }

  QUEUE_INSERT_TAIL(&wq, q);
  if (idle_threads > 0)
"""


class Libuv(Chained):
    package = "libuv1"
    executables = ("uv-pool",)
    jobs = (Job("pool", ("uv-pool",), 0, (("UV_THREADPOOL_SIZE", "2"),)),)
    plants = (
        Plant("post", "lock", POOL, "  QUEUE_INSERT_TAIL(&wq, q);\n  if (idle_threads > 0)\n    uv_cond_signal(&cond);\n  uv_mutex_unlock(&mutex);",
              "  uv_mutex_unlock(&mutex);\n  QUEUE_INSERT_TAIL(&wq, q);\n  if (idle_threads > 0)\n    uv_cond_signal(&cond);",
              (Sight(UNORDERED + WRONG, functions=("post",)), Sight(UNORDERED, variables=("wq*", "idle_threads")), Sight(STUCK, functions=("worker",)))),
        Plant("finished-work", "lock", POOL, "executing. */\n    QUEUE_INSERT_TAIL(&w->loop->wq, &w->wq);\n    uv_async_send(&w->loop->wq_async);\n    uv_mutex_unlock(&w->loop->wq_mutex);",
              "executing. */\n    uv_mutex_unlock(&w->loop->wq_mutex);\n    QUEUE_INSERT_TAIL(&w->loop->wq, &w->wq);\n    uv_async_send(&w->loop->wq_async);",
              (Sight(UNORDERED, functions=("worker", "uv__work_done")), Sight(UNORDERED, variables=("struct uv_loop_s.wq*",)), Sight(WRONG + STUCK, functions=("worker",)))),
        Plant("done-queue", "lock", POOL, "  uv_mutex_lock(&loop->wq_mutex);\n  QUEUE_MOVE(&loop->wq, &wq);\n  uv_mutex_unlock(&loop->wq_mutex);",
              "  QUEUE_MOVE(&loop->wq, &wq);", (Sight(UNORDERED + WRONG, functions=("uv__work_done",)), Sight(STUCK, functions=("uv_run",)))),
        Plant("cancel", "check", POOL, "  uv_mutex_lock(&mutex);\n  uv_mutex_lock(&w->loop->wq_mutex);\n\n  cancelled = !QUEUE_EMPTY(&w->wq) && w->work != NULL;\n",
              "  cancelled = !QUEUE_EMPTY(&w->wq) && w->work != NULL;\n\n  uv_mutex_lock(&mutex);\n  uv_mutex_lock(&w->loop->wq_mutex);\n",
              (Sight(UNORDERED + WRONG, functions=("uv__work_cancel",)),)),
        Plant("idle-check", "check", POOL, POST, "  unsigned int idle = idle_threads;\n" + POST.replace("idle_threads >", "idle >"),
              (Sight(UNORDERED, variables=("idle_threads",)), Sight(STUCK, functions=("worker",)))),
    )

    def configure(self, b):
        b.run("cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Debug", "-DLIBUV_BUILD_TESTS=OFF", "-DCMAKE_C_FLAGS=-O1 -g")

    def build(self, b):
        b.make("uv_a", cwd="build")
        b.run(*b.tool.cc.split(), "-O1", "-g", "-pthread", "-Iinclude", str(self.clients / "uv-pool.c"), "-o", "uv-pool", "build/libuv_a.a", "-ldl")


PROGRAM = Libuv
