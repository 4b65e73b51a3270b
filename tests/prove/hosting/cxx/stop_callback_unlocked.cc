/* The callback of a stop request runs in the thread that asks, beside the worker.
 * Expected: race on `state`. */
#include <mutex>
#include <stop_token>
#include <thread>

static std::mutex lock;
static int state;

static void worker(std::stop_token stop)
{
    std::stop_callback told(stop, [] {
#ifdef FIXED
        std::lock_guard<std::mutex> hold(lock);
#endif
        state = 2;
    });
    std::lock_guard<std::mutex> hold(lock);
    state = 1;
}

int main()
{
    std::jthread t(worker);
    t.request_stop();
    t.join();
    return state > 2;
}
