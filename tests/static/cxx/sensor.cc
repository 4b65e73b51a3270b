// BROKEN: latest
// A thread that is a member, and a listener that is copied under the lock and called without.
#include "all.h"
struct Sample {
    double t;
    std::array<double, 3> v;
};
class Sensor
{
    std::mutex m;
    std::optional<Sample> latest;
    std::deque<Sample> history;
    bool run = true;
    std::function<void(const Sample &)> listener;
    std::thread th;
    void loop()
    {
        double t = 0;
        for (;;) {
            Sample s{t, {t, t * 2, t * 3}};
            t += 0.1;
            std::function<void(const Sample &)> l;
            {
                std::lock_guard<std::mutex> g(m);
                if (!run)
                    return;
                latest = s;
                history.push_back(s);
                if (history.size() > 8)
                    history.pop_front();
                l = listener;
            }
            if (l)
                l(s);
        }
    }

  public:
    Sensor() : th([this] { loop(); })
    {
    }
    ~Sensor()
    {
        {
            std::lock_guard<std::mutex> g(m);
            run = false;
        }
        th.join();
    }
    void on(std::function<void(const Sample &)> f)
    {
        std::lock_guard<std::mutex> g(m);
        listener = std::move(f);
    }
    std::optional<Sample> last()
    {
#ifndef BROKEN
        std::lock_guard<std::mutex> g(m);
#endif
        return latest;
    }
    double mean()
    {
        std::lock_guard<std::mutex> g(m);
        double s = 0;
        for (const auto &x : history)
            s += x.v[1];
        return history.empty() ? 0 : s / (double)history.size();
    }
};
int main()
{
    std::mutex om;
    int n = 0;
    Sensor s;
    s.on([&](const Sample &x) {
        std::lock_guard<std::mutex> g(om);
        if (x.v[0] > 1)
            n++;
    });
    for (int i = 0; i < 3; i++) {
        if (auto l = s.last())
            printf("%f %f\n", l->t, s.mean());
    }
}
