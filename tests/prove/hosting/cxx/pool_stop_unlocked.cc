/* A pool of packaged tasks is told to stop without its lock, between a worker's test and its wait.
 * Expected: lost-wakeup or deadlock. */
#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

class Pool
{
  public:
    explicit Pool(int n)
    {
        for (int i = 0; i < n; i++)
            workers.emplace_back([this] { work(); });
    }
    ~Pool()
    {
        {
#ifdef FIXED
            std::lock_guard<std::mutex> hold(lock);
#endif
            stopping = true;
        }
        changed.notify_all();
        for (std::thread &w : workers)
            w.join();
    }
    template <class F> std::future<int> submit(F f)
    {
        std::packaged_task<int()> task(f);
        std::future<int> result = task.get_future();
        std::lock_guard<std::mutex> hold(lock);
        tasks.push(std::move(task));
        changed.notify_one();
        return result;
    }

  private:
    void work()
    {
        for (;;) {
            std::unique_lock<std::mutex> hold(lock);
            while (tasks.empty() && !stopping)
                changed.wait(hold);
            if (tasks.empty())
                return;
            std::packaged_task<int()> task = std::move(tasks.front());
            tasks.pop();
            hold.unlock();
            task();
        }
    }

    std::mutex lock;
    std::condition_variable changed;
    std::atomic<bool> stopping{false};
    std::queue<std::packaged_task<int()>> tasks;
    std::vector<std::thread> workers;
};

int main()
{
    Pool pool(2);
    std::future<int> a = pool.submit([] { return 1; }), b = pool.submit([] { return 2; });
    return a.get() + b.get() == 3 ? 0 : 1;
}
