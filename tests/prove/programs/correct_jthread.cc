/* A std::jthread waits for work or for the request to stop, which its destructor makes.
 * Expected: nothing. */
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

static std::mutex lock;
static std::condition_variable_any changed;
static int work, done;

static void worker(std::stop_token stop)
{
    std::unique_lock<std::mutex> hold(lock);
    while (changed.wait(hold, stop, [] { return work > 0; })) {
        work--;
        done++;
    }
}

int main()
{
    {
        std::jthread t(worker);
        std::lock_guard<std::mutex> hold(lock);
        work = 1;
        changed.notify_one();
    }
    return done > 1;
}
