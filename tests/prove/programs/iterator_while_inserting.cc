/* A map is walked through while another thread inserts into it.
 * Expected: race at `insert` and `walk`. */
#include <map>
#include <mutex>
#include <thread>

class Registry {
    mutable std::mutex lock;
    std::map<int, int> entries{{1, 1}, {3, 3}};

  public:
    void add(int k)
    {
        std::lock_guard<std::mutex> hold(lock);
        entries[k] = k; /* insert */
    }
    int sum() const
    {
#ifdef FIXED
        std::lock_guard<std::mutex> hold(lock);
#endif
        int s = 0;
        for (const auto &e : entries) /* walk */
            s += e.second;
        return s;
    }
};
static Registry registry;

int main()
{
    std::thread t([] { registry.add(2); });
    int s = registry.sum();
    t.join();
    return s < 0;
}
