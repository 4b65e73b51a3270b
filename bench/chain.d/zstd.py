"""zstd: a thread pool, pools of buffers and contexts, and a serial order of jobs."""
from harness.planted import STUCK, UNORDERED, WRONG, Chained, Job, Plant, Sight

POOL, MT = "lib/common/pool.c", "lib/compress/zstdmt_compress.c"
BUSY = """            ZSTD_pthread_mutex_lock(&ctx->queueMutex);
            ctx->numThreadsBusy--;
            ZSTD_pthread_cond_signal(&ctx->queuePushCond);
            ZSTD_pthread_mutex_unlock(&ctx->queueMutex);
"""


class Zstd(Chained):
    package = "libzstd"
    executables = ("programs/zstd",)
    jobs = (Job("compress", ("programs/zstd", "-T2", "-1", "-B512KB", "-q", "-k", "-c", "{data}"), 1200),)
    plants = (
        Plant("busy-count", "lock", POOL, BUSY, "            ctx->numThreadsBusy--;\n            ZSTD_pthread_cond_signal(&ctx->queuePushCond);\n",
              (Sight(UNORDERED, variables=("*numThreadsBusy",)), Sight(STUCK, functions=("POOL_thread",)))),
        Plant("shutdown-flag", "lock", POOL, "    ZSTD_pthread_mutex_lock(&ctx->queueMutex);\n    ctx->shutdown = 1;\n    ZSTD_pthread_mutex_unlock(&ctx->queueMutex);\n",
              "    ctx->shutdown = 1;\n", (Sight(UNORDERED, variables=("*POOL_ctx_s.shutdown",)), Sight(STUCK, functions=("POOL_thread",)))),
        Plant("pool-join", "join", POOL, "            ZSTD_pthread_join(ctx->threads[i]);", "            pthread_detach(ctx->threads[i]);",
              (Sight(UNORDERED, functions=("POOL_free", "POOL_thread")), Sight(("use-after-free", *WRONG), functions=("POOL_thread",)))),
        Plant("release-cctx", "lock", MT, """    ZSTD_pthread_mutex_lock(&pool->poolMutex);
    if (pool->availCCtx < pool->totalCCtx)
        pool->cctx[pool->availCCtx++] = cctx;
    else {
        /* pool overflow : should not happen, since totalCCtx==nbWorkers */
        DEBUGLOG(4, "CCtx pool overflow : free cctx");
        ZSTD_freeCCtx(cctx);
    }
    ZSTD_pthread_mutex_unlock(&pool->poolMutex);
""", """    if (pool->availCCtx < pool->totalCCtx)
        pool->cctx[pool->availCCtx++] = cctx;
    else
        ZSTD_freeCCtx(cctx);
""", (Sight(UNORDERED, variables=("*availCCtx", "*.cctx*")), Sight(("use-after-free",), functions=("ZSTDMT_releaseCCtx",)))),
        Plant("job-done", "lock", MT, """    ZSTD_PTHREAD_MUTEX_LOCK(&job->job_mutex);
    if (ZSTD_isError(job->cSize)) assert(lastCBlockSize == 0);
    job->cSize += lastCBlockSize;
    job->consumed = job->src.size;  /* when job->consumed == job->src.size , compression job is presumed completed */
    ZSTD_pthread_cond_signal(&job->job_cond);
    ZSTD_pthread_mutex_unlock(&job->job_mutex);
""", """    job->cSize += lastCBlockSize;
    job->consumed = job->src.size;
    ZSTD_pthread_cond_signal(&job->job_cond);
""", (Sight(UNORDERED, variables=("*.cSize", "*.consumed")), Sight(STUCK, functions=("ZSTDMT_flushProduced",)))),
        Plant("wait-once", "check", POOL, "            ZSTD_pthread_cond_wait(&ctx->queuePopCond, &ctx->queueMutex);\n        }\n        /* Pop",
              "            ZSTD_pthread_mutex_unlock(&ctx->queueMutex);\n            ZSTD_pthread_mutex_lock(&ctx->queueMutex);\n"
              "            ZSTD_pthread_cond_wait(&ctx->queuePopCond, &ctx->queueMutex);\n        }\n        /* Pop",
              (Sight(STUCK, functions=("POOL_thread",)),)),
    )

    def build(self, b):
        b.make("-C", "programs", "zstd", "HAVE_ZLIB=0", "HAVE_LZMA=0", "HAVE_LZ4=0", "ZSTD_LEGACY_SUPPORT=0", "MOREFLAGS=-g", "DEBUGLEVEL=0")


PROGRAM = Zstd
