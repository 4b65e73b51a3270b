/* The destructor of the base joins the thread, when the derived part is already gone.
 * Expected: race or crash or use-after-free. */
#include <memory>
#include <thread>

struct Worker {
    std::thread thread;
    void start() { thread = std::thread([this] { run(); }); }
    virtual void run() = 0;
    virtual ~Worker()
    {
        if (thread.joinable())
            thread.join();
    }
};

struct Special : Worker {
    std::unique_ptr<int> extra = std::make_unique<int>(1);
    void run() override { ++*extra; }
    ~Special() override
    {
#ifdef FIXED
        thread.join();
#endif
    }
};

int main()
{
    Special s;
    s.start();
    return 0;
}
