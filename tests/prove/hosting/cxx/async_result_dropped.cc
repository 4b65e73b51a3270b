/* A future is kept only if its task is slow, so that the object that the task works on may go before the task.
 * Expected: race or use-after-free. */
#include <future>
#include <memory>
#include <thread>

static void fill(int *at)
{
    *at = 1;
}

int main()
{
    auto room = std::make_unique<int>(0);
    std::packaged_task<void(int *)> task(fill);
    std::future<void> done = task.get_future();
    std::thread t(std::move(task), room.get());
#ifdef FIXED
    done.wait();
#else
    if (done.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout)
        room.reset();
#endif
    t.join();
    return 0;
}
