// BROKEN: Pool.executed
// A thread pool that counts what it has done, and jobs that look things up in a cache.
#include "all.h"
class Pool {
    std::mutex m;
    std::condition_variable cv;
    std::queue<std::function<void()>> jobs;
    std::vector<std::thread> threads;
    bool done = false;
    int executed = 0;

    void run()
    {
        for (;;) {
            std::function<void()> job;
            {
                std::unique_lock<std::mutex> lock(m);
                cv.wait(lock, [this] { return done || !jobs.empty(); });
                if (jobs.empty())
                    return;
                job = std::move(jobs.front());
                jobs.pop();
            }
            job();
#ifndef BROKEN
            std::lock_guard<std::mutex> guard(m);
#endif
            executed++;
        }
    }

public:
    explicit Pool(int n)
    {
        for (int i = 0; i < n; i++)
            threads.emplace_back([this] { run(); });
    }
    void submit(std::function<void()> job)
    {
        {
            std::lock_guard<std::mutex> guard(m);
            jobs.push(std::move(job));
        }
        cv.notify_one();
    }
    ~Pool()
    {
        {
            std::lock_guard<std::mutex> guard(m);
            done = true;
        }
        cv.notify_all();
        for (auto &t : threads)
            t.join();
        printf("%d executed\n", executed);
    }
};

struct Cache {
    std::mutex m;
    std::map<std::string, std::shared_ptr<int>> all;
    std::shared_ptr<int> get(const std::string &key)
    {
        std::lock_guard<std::mutex> guard(m);
        auto it = all.find(key);
        if (it != all.end())
            return it->second;
        auto made = std::make_shared<int>((int)key.size());
        all.emplace(key, made);
        return made;
    }
};

int main()
{
    Cache cache;
    std::mutex sum_lock;
    long sum = 0;
    {
        Pool pool(3);
        for (int i = 0; i < 20; i++)
            pool.submit([&, i] {
                auto value = cache.get("k" + std::to_string(i % 5));
                std::lock_guard<std::mutex> guard(sum_lock);
                sum += *value;
            });
    }
    printf("%ld\n", sum);
}
