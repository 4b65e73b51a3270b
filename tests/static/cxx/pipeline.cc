// BROKEN: Pipeline.results
// Two stages with channels in between; what was moved out of a channel is the taker's.
#include "all.h"
template <class T> class Channel
{
    std::mutex m;
    std::condition_variable cv;
    std::queue<T> q;
    bool closed = false;

  public:
    void send(T v)
    {
        std::lock_guard<std::mutex> g(m);
        q.push(std::move(v));
        cv.notify_one();
    }
    bool recv(T &out)
    {
        std::unique_lock<std::mutex> l(m);
        cv.wait(l, [this] { return closed || !q.empty(); });
        if (q.empty())
            return false;
        out = std::move(q.front());
        q.pop();
        return true;
    }
    void close()
    {
        {
            std::lock_guard<std::mutex> g(m);
            closed = true;
        }
        cv.notify_all();
    }
};
struct Job {
    int id;
    std::vector<int> data;
};
struct Result {
    int id;
    long sum;
    std::string note;
};
class Pipeline
{
    Channel<Job> in;
    Channel<Result> out;
    std::thread stage1, stage2;
    std::mutex rm;
    std::vector<Result> results;

  public:
    Pipeline()
    {
        stage1 = std::thread([this] {
            Job j;
            while (in.recv(j)) {
                Result r{j.id, 0, ""};
                for (int x : j.data)
                    r.sum += x;
                r.note = "job " + std::to_string(j.id);
                out.send(std::move(r));
            }
            out.close();
        });
        stage2 = std::thread([this] {
            Result r;
            while (out.recv(r)) {
#ifndef BROKEN
                std::lock_guard<std::mutex> g(rm);
#endif
                results.push_back(r);
            }
        });
    }
    void submit(Job j)
    {
        in.send(std::move(j));
    }
    size_t so_far()
    {
        std::lock_guard<std::mutex> g(rm);
        return results.size();
    }
    std::vector<Result> finish()
    {
        in.close();
        stage1.join();
        stage2.join();
        return std::move(results);
    }
};
int main()
{
    Pipeline p;
    for (int i = 0; i < 10; i++) {
        Job j{i, {1, 2, i}};
        p.submit(std::move(j));
    }
    printf("%zu\n", p.so_far());
    for (auto &r : p.finish())
        printf("%d %ld %s\n", r.id, r.sum, r.note.c_str());
}
