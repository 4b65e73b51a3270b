/* Work for the thread pool, a cancelled request, and a thread that wakes the loop. */
#include <stdio.h>
#include <uv.h>

static int done, cancelled, woken;
static uv_async_t wake_up;

static void work(uv_work_t *w)
{
    *(int *)w->data += 1;
}

static void after_work(uv_work_t *w, int status)
{
    (void)w;
    done++;
    cancelled += status == UV_ECANCELED;
}

static void on_wake(uv_async_t *a)
{
    woken++;
    uv_close((uv_handle_t *)a, NULL);
}

static void waker(void *unused)
{
    (void)unused;
    uv_async_send(&wake_up);
}

int main(void)
{
    uv_work_t requests[3];
    int values[3] = {0};
    uv_thread_t thread;
    uv_async_init(uv_default_loop(), &wake_up, on_wake);
    for (int i = 0; i < 3; i++) {
        requests[i].data = &values[i];
        uv_queue_work(uv_default_loop(), &requests[i], work, after_work);
    }
    uv_cancel((uv_req_t *)&requests[2]);
    uv_thread_create(&thread, waker, NULL);
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    uv_thread_join(&thread);
    printf("%d done, %d woken\n", done, woken);
    return done == 3 && woken == 1 ? 0 : 1;
}
