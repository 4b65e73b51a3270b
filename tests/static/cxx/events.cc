// BROKEN: Loop.handlers
// An event loop: handlers by name, timers in order, posted from anywhere.
#include "all.h"
class Loop {
    struct Timer {
        long due;
        std::function<void()> action;
        bool operator<(const Timer &other) const { return due > other.due; }
    };
    std::mutex m;
    std::condition_variable cv;
    std::unordered_map<std::string, std::vector<std::function<void(int)>>> handlers;
    std::priority_queue<Timer> timers;
    std::deque<std::pair<std::string, int>> posted;
    std::set<std::string> unknown;
    bool running = true;

public:
    void on(const std::string &name, std::function<void(int)> handler)
    {
#ifndef BROKEN
        std::lock_guard<std::mutex> guard(m);
#endif
        handlers[name].push_back(std::move(handler));
    }
    void post(const std::string &name, int value)
    {
        std::lock_guard<std::mutex> guard(m);
        posted.emplace_back(name, value);
        cv.notify_one();
    }
    void after(long due, std::function<void()> action)
    {
        std::lock_guard<std::mutex> guard(m);
        timers.push(Timer{due, std::move(action)});
        cv.notify_one();
    }
    void stop()
    {
        std::lock_guard<std::mutex> guard(m);
        running = false;
        cv.notify_one();
    }
    void run()
    {
        std::unique_lock<std::mutex> lock(m);
        while (running || !posted.empty()) {
            if (!timers.empty()) {
                auto action = timers.top().action;
                timers.pop();
                lock.unlock();
                action();
                lock.lock();
                continue;
            }
            if (posted.empty()) {
                cv.wait(lock);
                continue;
            }
            auto [name, value] = posted.front();
            posted.pop_front();
            auto found = handlers.find(name);
            if (found == handlers.end()) {
                unknown.insert(name);
                continue;
            }
            auto all = found->second;
            lock.unlock();
            for (auto &h : all)
                h(value);
            lock.lock();
        }
    }
};

int main()
{
    Loop loop;
    int sum = 0;
    loop.on("add", [&sum](int n) { sum += n; });
    std::thread runner([&loop] { loop.run(); });
    std::thread poster([&loop] {
        for (int i = 0; i < 5; i++)
            loop.post(i % 2 ? "add" : "other", i);
    });
    loop.on("other", [&loop](int n) { loop.after(n, [] { puts("due"); }); });
    poster.join();
    loop.stop();
    runner.join();
    printf("%d\n", sum);
}
