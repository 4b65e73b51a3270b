/* A task of a queue is run by a worker; its caller reads what it made without asking the future.
 * Expected: race on `made`. */
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable changed;
static std::deque<std::packaged_task<void()>> queue;
static int made;

static void work()
{
    std::unique_lock<std::mutex> hold(lock);
    changed.wait(hold, [] { return !queue.empty(); });
    std::packaged_task<void()> task = std::move(queue.front());
    queue.pop_front();
    hold.unlock();
    task();
}

int main()
{
    std::thread t(work);
    std::packaged_task<void()> task([] { made = 5; });
    std::future<void> done = task.get_future();
    {
        std::lock_guard<std::mutex> hold(lock);
        queue.push_back(std::move(task));
    }
    changed.notify_one();
#ifdef FIXED
    done.get();
#endif
    int got = made;
    t.join();
    return got < 0;
}
