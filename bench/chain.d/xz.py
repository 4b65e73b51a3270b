"""xz: the threads live in liblzma.so, so that everything of interest is in a shared library."""
from harness.planted import STUCK, UNORDERED, WRONG, Chained, Job, Plant, Sight

MT = "src/liblzma/common/stream_encoder_mt.c"


class Xz(Chained):
    package = "xz-utils"
    executables = ("src/xz/.libs/xz",)
    jobs = (Job("compress", ("src/xz/.libs/xz", "-T2", "-0", "--block-size=32KiB", "-k", "-c", "{data}"), 100,
                (("LD_LIBRARY_PATH", "{tree}/src/liblzma/.libs"),)),)
    plants = (
        Plant("finished", "lock", MT, "		mythread_sync(thr->coder->mutex) {\n			// If no errors occurred", "		{\n			// If no errors occurred",
              (Sight(UNORDERED, variables=("*finished*", "*threads_free", "*progress_*", "*worker_thread_s.next", "*thread_error"), functions=("worker_start",)),
               Sight(STUCK, functions=("worker_start",)))),
        Plant("take-thread", "lock", MT, "	mythread_sync(coder->mutex) {\n		if (coder->threads_free != NULL) {", "	{\n		if (coder->threads_free != NULL) {",
              (Sight(UNORDERED, variables=("*threads_free", "*worker_thread_s.next")),)),
        Plant("in-size", "lock", MT, "		mythread_sync(coder->thr->mutex) {\n			if (coder->thr->state == THR_IDLE) {",
              "		{\n			if (coder->thr->state == THR_IDLE) {",
              (Sight(UNORDERED, variables=("*in_size", "*worker_thread_s.state")), Sight(STUCK, functions=("worker_start",)))),
        Plant("exit-signal", "signal", MT, "			coder->threads[i].state = THR_EXIT;\n			mythread_cond_signal(&coder->threads[i].cond);\n",
              "			coder->threads[i].state = THR_EXIT;\n", (Sight(STUCK, functions=("worker_start",)),)),
        Plant("join", "join", MT, "		int ret = mythread_join(coder->threads[i].thread_id);\n", "		int ret = pthread_detach(coder->threads[i].thread_id);\n",
              (Sight(UNORDERED + WRONG, functions=("worker_start", "threads_end")), Sight(("use-after-free", *WRONG), functions=("worker_start",)))),
        Plant("check-work", "check", MT, "				state = thr->state;\n				if (state != THR_IDLE)\n					break;\n\n				mythread_cond_wait(&thr->cond, &thr->mutex);",
              "				state = thr->state;\n				if (state != THR_IDLE)\n					break;\n				mythread_mutex_unlock(&thr->mutex);\n"
              "				mythread_mutex_lock(&thr->mutex);\n				mythread_cond_wait(&thr->cond, &thr->mutex);",
              (Sight(STUCK, functions=("worker_start",)),)),
    )

    def configure(self, b):
        b.run("./configure", "--disable-static", "--disable-nls", "--disable-doc", "--disable-scripts", "--disable-xzdec", "--disable-lzmadec",
              "--disable-lzmainfo", "--enable-debug", env={"CFLAGS": "-O1 -g"})

    def build(self, b):
        b.make("-C", "src")


PROGRAM = Xz
