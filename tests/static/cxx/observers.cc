// BROKEN: Subject.observers
// Observers that come while others are told; they are told without the lock.
#include "all.h"
struct Observer {
    virtual ~Observer() {}
    virtual void changed(int value) = 0;
};
class Counter : public Observer {
    std::mutex m;
    int seen = 0;

public:
    void changed(int value) override
    {
        std::lock_guard<std::mutex> guard(m);
        seen += value;
    }
    int total()
    {
        std::lock_guard<std::mutex> guard(m);
        return seen;
    }
};
class Last : public Observer {
    std::mutex m;
    std::string text;

public:
    void changed(int value) override
    {
        std::lock_guard<std::mutex> guard(m);
        text = std::to_string(value);
    }
};
class Subject {
    std::mutex m;
    std::vector<std::shared_ptr<Observer>> observers;

public:
    void add(std::shared_ptr<Observer> o)
    {
        std::lock_guard<std::mutex> guard(m);
        observers.push_back(std::move(o));
    }
    void tell(int value)
    {
        std::vector<std::shared_ptr<Observer>> now;
        {
#ifndef BROKEN
            std::lock_guard<std::mutex> guard(m);
#endif
            now = observers;
        }
        for (auto &o : now)
            o->changed(value);
    }
};

int main()
{
    Subject subject;
    auto counter = std::make_shared<Counter>();
    subject.add(counter);
    std::thread teller([&] {
        for (int i = 0; i < 5; i++)
            subject.tell(i);
    });
    std::thread adder([&] { subject.add(std::make_shared<Last>()); });
    subject.tell(7);
    teller.join();
    adder.join();
    printf("%d\n", counter->total());
}
