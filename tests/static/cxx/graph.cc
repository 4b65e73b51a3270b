// BROKEN: Graph::Node.visited
// Threads go through a graph whose nodes have locks of their own.
#include "all.h"
class Graph
{
    struct Node {
        std::mutex m;
        std::vector<int> next;
        bool visited = false;
    };
    std::vector<std::unique_ptr<Node>> nodes;
    std::mutex qm;
    std::deque<int> todo;
    int busy = 0;
    std::condition_variable cv;

  public:
    Graph(int n)
    {
        for (int i = 0; i < n; i++) {
            nodes.push_back(std::make_unique<Node>());
            nodes.back()->next = {(i * 2 + 1) % n, (i * 3 + 2) % n};
        }
    }
    bool visit(int i)
    {
        Node &n = *nodes[i];
#ifndef BROKEN
        std::lock_guard<std::mutex> g(n.m);
#endif
        if (n.visited)
            return false;
        n.visited = true;
        return true;
    }
    void work()
    {
        std::unique_lock<std::mutex> l(qm);
        for (;;) {
            cv.wait(l, [&] { return !todo.empty() || busy == 0; });
            if (todo.empty()) {
                cv.notify_all();
                return;
            }
            int i = todo.front();
            todo.pop_front();
            busy++;
            l.unlock();
            std::vector<int> found;
            if (visit(i))
                for (int k : nodes[i]->next)
                    found.push_back(k);
            l.lock();
            todo.insert(todo.end(), found.begin(), found.end());
            busy--;
            cv.notify_all();
        }
    }
    void run(int t)
    {
        todo.push_back(0);
        std::vector<std::thread> ts;
        for (int i = 0; i < t; i++)
            ts.emplace_back(&Graph::work, this);
        for (auto &x : ts)
            x.join();
        int c = 0;
        for (auto &n : nodes)
            c += n->visited;
        printf("%d\n", c);
    }
};
int main()
{
    Graph g(50);
    g.run(4);
}
