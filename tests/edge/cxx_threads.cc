// std::thread, mutex, scoped_lock, condition_variable, call_once, thread_local in a small work queue.
// FLAGS: -pthread
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

class Queue
{
    std::mutex m;
    std::condition_variable ready;
    std::deque<std::string> items;
    bool closed = false;

  public:
    void put(std::string s)
    {
        {
            std::lock_guard lock(m);
            items.push_back(std::move(s));
        }
        ready.notify_one();
    }
    void close()
    {
        std::lock_guard lock(m);
        closed = true;
        ready.notify_all();
    }
    bool get(std::string &out)
    {
        std::unique_lock lock(m);
        ready.wait(lock, [this] { return closed || !items.empty(); });
        if (items.empty())
            return false;
        out = std::move(items.front());
        items.pop_front();
        return true;
    }
};
static std::once_flag once;
static int initialised;
static std::mutex left, right;
static long total;
static thread_local long mine;

int main()
{
    Queue q;
    std::vector<std::thread> workers;
    for (int i = 0; i < 3; i++)
        workers.emplace_back([&q] {
            std::string s;
            std::call_once(once, [] { initialised++; });
            while (q.get(s))
                mine += static_cast<long>(s.size());
            std::scoped_lock both(left, right);
            total += mine;
        });
    for (int i = 0; i < 1000; i++)
        q.put(std::string(static_cast<size_t>(i % 40), 'x'));
    q.close();
    for (auto &w : workers)
        w.join();
    std::printf("%ld %d %ld\n", total, initialised, mine);
}
