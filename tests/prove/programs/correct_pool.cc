/* A pool of threads with a queue of packaged tasks, one of which throws; std::async beside it.
 * Expected: nothing. */
#include <cassert>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>

static std::mutex lock;
static std::condition_variable some;
static std::deque<std::packaged_task<int()>> jobs;
static bool stopped;

static void work()
{
    for (;;) {
        std::unique_lock<std::mutex> hold(lock);
        some.wait(hold, [] { return stopped || !jobs.empty(); });
        if (jobs.empty())
            return;
        std::packaged_task<int()> job = std::move(jobs.front());
        jobs.pop_front();
        hold.unlock();
        job();
    }
}

static std::future<int> add(std::function<int()> f)
{
    std::packaged_task<int()> job(std::move(f));
    std::future<int> result = job.get_future();
    std::lock_guard<std::mutex> hold(lock);
    jobs.push_back(std::move(job));
    some.notify_one();
    return result;
}

int main()
{
    std::thread worker(work);
    auto three = add([] { return 3; }), none = add([]() -> int { throw std::runtime_error("none"); });
    auto four = std::async(std::launch::async, [] { return 4; });
    int sum = three.get() + four.get();
    bool thrown = false;
    try {
        none.get();
    } catch (const std::runtime_error &) {
        thrown = true;
    }
    {
        std::lock_guard<std::mutex> hold(lock);
        stopped = true;
    }
    some.notify_all();
    worker.join();
    assert(sum == 7 && thrown);
    return 0;
}
