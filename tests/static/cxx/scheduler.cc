// BROKEN: Scheduler.tasks
// Tasks of several kinds, taken out of a list by their owner.
#include "all.h"
class Task
{
  protected:
    std::string name;

  public:
    explicit Task(std::string n) : name(std::move(n))
    {
    }
    virtual ~Task() = default;
    virtual int exec() = 0;
    const std::string &title() const
    {
        return name;
    }
};
class Sum : public Task
{
    std::vector<int> v;

  public:
    Sum(std::string n, std::vector<int> x) : Task(std::move(n)), v(std::move(x))
    {
    }
    int exec() override
    {
        int s = 0;
        for (int i : v)
            s += i;
        return s;
    }
};
class Len : public Task
{
  public:
    using Task::Task;
    int exec() override
    {
        return (int)name.size();
    }
};
class Scheduler
{
    std::mutex m;
    std::condition_variable cv;
    std::list<std::unique_ptr<Task>> tasks;
    std::map<std::string, int> done;
    std::vector<std::thread> ts;
    bool stop = false;
    int running = 0;
    void loop()
    {
        while (true) {
            std::unique_ptr<Task> t;
            {
                std::unique_lock<std::mutex> l(m);
                while (tasks.empty() && !stop)
                    cv.wait(l);
                if (tasks.empty())
                    return;
                t = std::move(tasks.front());
                tasks.pop_front();
                ++running;
            }
            int r = t->exec();
            std::lock_guard<std::mutex> g(m);
            done[t->title()] = r;
            --running;
        }
    }

  public:
    explicit Scheduler(unsigned n)
    {
        ts.reserve(n);
        for (unsigned i = 0; i < n; ++i)
            ts.push_back(std::thread(&Scheduler::loop, this));
    }
    void add(std::unique_ptr<Task> t)
    {
        {
#ifndef BROKEN
            std::lock_guard<std::mutex> g(m);
#endif
            tasks.push_back(std::move(t));
        }
        cv.notify_one();
    }
    std::map<std::string, int> wait()
    {
        {
            std::lock_guard<std::mutex> g(m);
            stop = true;
        }
        cv.notify_all();
        for (auto &t : ts)
            t.join();
        ts.clear();
        return done;
    }
};
int main()
{
    Scheduler s(2);
    s.add(std::make_unique<Sum>("sum", std::vector<int>{1, 2, 3}));
    s.add(std::make_unique<Len>("length"));
    for (auto &[k, v] : s.wait())
        printf("%s=%d\n", k.c_str(), v);
}
