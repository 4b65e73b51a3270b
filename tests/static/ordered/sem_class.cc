// A semaphore as a class, used as a lock and to hand over. BROKEN 1: no acquire. 2: too many at first.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
class Semaphore {
public:
    explicit Semaphore(int n) : count_(n) {}
    void acquire()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        more_.wait(lock, [this] { return count_ > 0; });
        --count_;
    }
    void release()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        ++count_;
        more_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable more_;
    int count_;
};
static Semaphore one(BROKEN == 2 ? 3 : 1);
static long total;

static void add(int n)
{
    for (int i = 0; i < n; i++) {
#if BROKEN != 1
        one.acquire();
#endif
        total += i;
        one.release();
    }
}

int main()
{
    std::thread a(add, 10), b(add, 20);
    a.join();
    b.join();
    std::printf("%ld\n", total);
}
