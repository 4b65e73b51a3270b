/* A pool of std::thread in a library, with a queue of std::function; how many jobs are done is counted outside the lock.
 * Expected: race on `pool.done` at `counts`. */
#ifdef LIBRARY_1
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>
class pool {
public:
    explicit pool(int n)
    {
        for (int i = 0; i < n; i++)
            threads.emplace_back([this] { work(); });
    }
    std::future<int> add(std::function<int()> f)
    {
        auto task = std::make_shared<std::packaged_task<int()>>(std::move(f));
        {
            std::lock_guard<std::mutex> hold(lock);
            jobs.push_back([task] { (*task)(); });
        }
        some.notify_one();
        return task->get_future();
    }
    ~pool()
    {
        {
            std::lock_guard<std::mutex> hold(lock);
            stopped = true;
        }
        some.notify_all();
        for (auto &t : threads)
            t.join();
    }

private:
    void work()
    {
        for (;;) {
            std::function<void()> job;
            {
                std::unique_lock<std::mutex> hold(lock);
                some.wait(hold, [this] { return stopped || !jobs.empty(); });
                if (jobs.empty())
                    return;
                job = std::move(jobs.front());
                jobs.pop_front();
#ifdef FIXED
                done++;
#endif
            }
            job();
#ifndef FIXED
            done++; /* counts */
#endif
        }
    }
    std::mutex lock;
    std::condition_variable some;
    std::deque<std::function<void()>> jobs;
    std::vector<std::thread> threads;
    int done = 0;
    bool stopped = false;
};
int add_up(int a, int b);
int add_up(int a, int b)
{
    pool p(2);
    auto x = p.add([a] { return a; }), y = p.add([b] { return b; });
    return x.get() + y.get();
}
#else
int add_up(int a, int b);
int main()
{
    return add_up(2, 3) != 5;
}
#endif
