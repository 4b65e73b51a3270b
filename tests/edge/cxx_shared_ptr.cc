// shared_ptr and weak_ptr across threads, enable_shared_from_this, aliasing, atomic<shared_ptr>, custom deleters.
// FLAGS: -pthread
// ENV: DEADHEAT_OPTIONS=detect=none
// (std::atomic<std::shared_ptr>::load of libstdc++ 12 gives its lock back relaxed: a race that is there, and found)
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

static std::atomic<int> destroyed;
struct Node : std::enable_shared_from_this<Node> {
    int v;
    std::weak_ptr<Node> parent;
    std::vector<std::shared_ptr<Node>> children;
    explicit Node(int n) : v(n)
    {
    }
    ~Node()
    {
        destroyed++;
    }
    std::shared_ptr<Node> add(int n)
    {
        auto c = std::make_shared<Node>(n);
        c->parent = shared_from_this();
        children.push_back(c);
        return c;
    }
};

int main()
{
    std::atomic<long> sum{0};
    auto root = std::make_shared<Node>(1);
    for (int i = 0; i < 10; i++)
        root->add(i)->add(i * 10);
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; t++)
        threads.emplace_back([root, &sum] {
            for (int i = 0; i < 300; i++) {
                std::shared_ptr<Node> copy = root->children[static_cast<size_t>(i) % 10];
                if (auto p = copy->parent.lock())
                    sum += copy->v + p->v;
            }
        });
    for (auto &t : threads)
        t.join();
    std::printf("%ld %ld\n", sum.load(), root.use_count());
    std::shared_ptr<int> inside(root, &root->v);
    std::weak_ptr<Node> weak = root;
    root.reset();
    std::printf("%d %d\n", destroyed.load(), weak.expired());
    inside.reset();
    std::printf("%d %d\n", destroyed.load(), weak.expired());
    std::atomic<std::shared_ptr<int>> slot{std::make_shared<int>(0)};
    std::thread writer([&] {
        for (int i = 1; i <= 200; i++)
            slot.store(std::make_shared<int>(i));
    });
    int last = 0, wrong = 0;
    while (last < 200) {
        int now = *slot.load();
        wrong += now < last;
        last = now;
    }
    writer.join();
    int freed = 0;
    std::shared_ptr<int[]>(new int[3], [&](int *p) {
        freed++;
        delete[] p;
    });
    std::printf("%d %d %d\n", last, wrong, freed);
}
