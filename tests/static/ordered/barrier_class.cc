// A barrier as a class, with a predicate. BROKEN 1: not passed between the phases.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
class Barrier {
public:
    explicit Barrier(int n) : parties_(n) {}
    void arrive_and_wait()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        int generation = generation_;
        if (++waiting_ == parties_) {
            waiting_ = 0;
            ++generation_;
            all_.notify_all();
            return;
        }
        all_.wait(lock, [this, generation] { return generation != generation_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable all_;
    int parties_, waiting_ = 0, generation_ = 0;
};
static Barrier barrier(2);
static std::mutex lock;
static int best, picked;

static void search(int from)
{
    {
        std::lock_guard<std::mutex> guard(lock);
        if (from > best)
            best = from;
    }
#if BROKEN != 1
    barrier.arrive_and_wait();
#endif
    int seen = best;
    std::lock_guard<std::mutex> guard(lock);
    picked += seen;
}

int main()
{
    std::thread a(search, 1), b(search, 2);
    a.join();
    b.join();
    std::printf("%d\n", picked);
}
