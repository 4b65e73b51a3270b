// BROKEN: Logger.lines
// A logger that is there once it is asked for, with a thread of its own.
#include "all.h"
class Logger {
    std::mutex m;
    std::condition_variable cv;
    std::vector<std::string> lines;
    bool stopping = false;
    size_t written = 0;
    std::thread writer;

    Logger() : writer(&Logger::run, this) {}
    void run()
    {
        std::unique_lock<std::mutex> lock(m);
        while (!stopping || !lines.empty()) {
            cv.wait(lock, [this] { return stopping || !lines.empty(); });
            std::vector<std::string> batch;
            batch.swap(lines);
            lock.unlock();
            for (const std::string &line : batch)
                printf("%s\n", line.c_str());
            lock.lock();
            written += batch.size();
        }
    }

public:
    static Logger &get()
    {
        static Logger one;
        return one;
    }
    void log(std::string line)
    {
        {
#ifndef BROKEN
            std::lock_guard<std::mutex> guard(m);
#endif
            lines.push_back(std::move(line));
        }
        cv.notify_one();
    }
    ~Logger()
    {
        {
            std::lock_guard<std::mutex> guard(m);
            stopping = true;
        }
        cv.notify_one();
        writer.join();
        printf("%zu lines\n", written);
    }
};

int main()
{
    std::thread a([] { Logger::get().log("from a"); });
    std::thread b([] { Logger::get().log(std::string("from ") + "b"); });
    a.join();
    b.join();
}
