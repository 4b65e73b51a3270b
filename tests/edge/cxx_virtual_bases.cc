// Virtual bases: one shared subobject, construction order with virtual calls, covariant results, thunks.
#include <cstdio>

static int calls;
struct Top {
    int top;
    explicit Top(int t) : top(t)
    {
        who();
    }
    virtual ~Top()
    {
        std::printf("~Top ");
    }
    virtual void who() const
    {
        std::printf("Top%d ", top);
    }
    virtual Top *self()
    {
        calls++;
        return this;
    }
};
struct Left : virtual Top {
    int left = 2;
    Left() : Top(100)
    {
        who();
    }
    void who() const override
    {
        std::printf("Left%d ", left + top);
    }
    Left *self() override
    {
        return this;
    }
};
struct Right : virtual Top {
    int right = 3;
    Right() : Top(200)
    {
        who();
    }
    void who() const override
    {
        std::printf("Right%d ", right * top);
    }
};
struct Bottom : Left, Right {
    int bottom = 4;
    Bottom() : Top(5)
    {
        who();
    }
    void who() const override
    {
        std::printf("Bottom%d ", bottom + left + right + top);
    }
    Bottom *self() override
    {
        return this;
    }
    ~Bottom() override
    {
        who();
    }
};

int main()
{
    Bottom *b = new Bottom;
    Top *t = b;
    Right *r = b;
    std::printf("\n%d %d %d\n", t->self() == t, static_cast<Left *>(b)->self()->left, r->self() == t);
    r->top = 50;
    b->who();
    t->who();
    std::printf("\n");
    int Bottom::*field = &Bottom::right;
    b->*field += 10;
    r->who();
    delete t;
    std::printf("%d\n", calls);
}
