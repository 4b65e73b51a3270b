// std::thread + condition_variable: a channel whose close() tests with "if" instead of "while" in receive().
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

template <class T> class Channel
{
    std::mutex m_;
    std::condition_variable some_;
    std::deque<T> items_;
    bool closed_ = false;

  public:
    void send(T v)
    {
        {
            std::lock_guard<std::mutex> g(m_);
            items_.push_back(std::move(v));
        }
        some_.notify_one();
    }
    void close()
    {
        std::lock_guard<std::mutex> g(m_);
        closed_ = true;
        some_.notify_all();
    }
    std::optional<T> receive()
    {
        std::unique_lock<std::mutex> g(m_);
#ifdef FIXED
        some_.wait(g, [this] { return !items_.empty() || closed_; });
        if (items_.empty())
            return std::nullopt;
#else
        if (items_.empty() && !closed_)
            some_.wait(g);
        if (closed_ && items_.empty())
            return std::nullopt;
#endif
        T v = std::move(items_.front());
        items_.pop_front();
        return v;
    }
};

int main()
{
    Channel<std::shared_ptr<int>> channel;
    std::vector<std::thread> consumers;
    std::mutex m;
    int sum = 0;
    for (int i = 0; i < 2; i++)
        consumers.emplace_back([&] {
            while (auto v = channel.receive()) {
                std::lock_guard<std::mutex> g(m);
                sum += **v;
            }
        });
    for (int i = 1; i <= 4; i++)
        channel.send(std::make_shared<int>(i));
    channel.close();
    for (auto &t : consumers)
        t.join();
    std::printf("%d\n", sum);
    return sum != 10;
}
