// BROKEN: Stats.counts
// Counts by name under a lock, a total by atomics, workers that are stopped by a flag.
#include "all.h"
#include <atomic>
struct Stats {
    mutable std::mutex m;
    std::map<std::string, int> counts;
    std::atomic<long> total{0};
    void hit(const std::string &k)
    {
        total.fetch_add(1);
        std::lock_guard g(m);
        ++counts[k];
    }
    std::vector<std::pair<std::string, int>> top() const
    {
#ifndef BROKEN
        std::scoped_lock g(m);
#endif
        std::vector<std::pair<std::string, int>> v(counts.begin(), counts.end());
        return v;
    }
};
class Server
{
    Stats stats;
    std::vector<std::thread> workers;
    std::atomic<bool> stop{false};

  public:
    void start(int n)
    {
        for (int i = 0; i < n; i++)
            workers.push_back(std::thread(&Server::loop, this, i));
    }
    void loop(int id)
    {
        std::string name = "w" + std::to_string(id);
        while (!stop.load()) {
            stats.hit(name);
            std::this_thread::yield();
        }
    }
    void report()
    {
        for (auto &[k, v] : stats.top())
            printf("%s %d\n", k.c_str(), v);
    }
    void finish()
    {
        stop = true;
        for (auto &w : workers)
            if (w.joinable())
                w.join();
        workers.clear();
    }
};
int main()
{
    Server s;
    s.start(3);
    s.report();
    s.finish();
    s.report();
}
