/* A worker asks for the request to stop only before it waits, so that a request in between is never heard.
 * Expected: lost-wakeup or deadlock. */
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

static std::mutex lock;
static std::condition_variable_any changed;

static void worker(std::stop_token stop)
{
#ifndef FIXED
    std::stop_callback wake(stop, [] { changed.notify_all(); });
    if (stop.stop_requested())
        return;
    std::unique_lock<std::mutex> hold(lock);
    changed.wait(hold);
#else
    std::unique_lock<std::mutex> hold(lock);
    changed.wait(hold, stop, [] { return false; });
#endif
}

int main()
{
    std::jthread t(worker);
    t.request_stop();
    return 0;
}
