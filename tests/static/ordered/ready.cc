// A condition variable with a predicate; the data are used after the lock was given back.
// BROKEN 1: filled after the notification. 2: no waiting.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
class Mailbox {
public:
    void fill(int from, int text)
    {
#if BROKEN != 1
        from_ = from;
        text_ = text;
#endif
        {
            std::lock_guard<std::mutex> guard(mutex_);
            full_ = true;
        }
        filled_.notify_one();
#if BROKEN == 1
        from_ = from;
        text_ = text;
#endif
    }
    void wait()
    {
        std::unique_lock<std::mutex> lock(mutex_);
#if BROKEN != 2
        filled_.wait(lock, [this] { return full_; });
#endif
    }
    int sum() const { return from_ + text_; }

private:
    std::mutex mutex_;
    std::condition_variable filled_;
    bool full_ = false;
    int from_ = 0, text_ = 0;
};

int main()
{
    Mailbox box;
    std::thread t([&box] { box.fill(1, 2); });
    box.wait();
    std::printf("%d\n", box.sum());
    t.join();
}
