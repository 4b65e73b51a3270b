// BROKEN: Tree.size
// A tree of owners, read by many.
#include "all.h"
class Tree
{
    struct Node {
        int key;
        std::unique_ptr<Node> left, right;
        explicit Node(int k) : key(k)
        {
        }
    };
    std::unique_ptr<Node> root;
    size_t size = 0;
    mutable std::shared_mutex m;
    static bool put(std::unique_ptr<Node> &at, int k)
    {
        if (!at) {
            at = std::make_unique<Node>(k);
            return true;
        }
        if (k == at->key)
            return false;
        return put(k < at->key ? at->left : at->right, k);
    }
    static bool has(const Node *n, int k)
    {
        while (n) {
            if (n->key == k)
                return true;
            n = (k < n->key ? n->left : n->right).get();
        }
        return false;
    }

  public:
    void insert(int k)
    {
        std::unique_lock<std::shared_mutex> l(m);
        if (put(root, k))
            size++;
    }
    bool contains(int k) const
    {
        std::shared_lock<std::shared_mutex> l(m);
        return has(root.get(), k);
    }
    size_t count() const
    {
#ifndef BROKEN
        std::shared_lock<std::shared_mutex> l(m);
#endif
        return size;
    }
};
int main()
{
    Tree t;
    std::vector<std::thread> ts;
    for (int i = 0; i < 3; i++)
        ts.emplace_back([&t, i] {
            for (int k = 0; k < 20; k++) {
                t.insert(k * 3 + i);
                if (!t.contains(k))
                    t.count();
            }
        });
    for (auto &x : ts)
        x.join();
    printf("%zu\n", t.count());
}
