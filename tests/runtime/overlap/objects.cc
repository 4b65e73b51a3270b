/* C++: the hidden pointer to an object's class, containers, owning pointers. */
#include "cases.h"

#include <memory>
#include <vector>

namespace
{

thread_local volatile int sink;

struct shape;
void mourn(const shape *s);

struct shape {
    int sides = 0;
    virtual ~shape()
    {
        mourn(this); /* as a shape: the class is written */
    }
    virtual int area() const
    {
        return 1;
    }
};
struct square : shape {
    int side = 2;
    int area() const override
    {
        return side * side;
    }
};

__attribute__((noinline)) void mourn(const shape *s)
{
    sink = s->area();
}

alignas(square) char room[sizeof(square)];
shape *made;
std::vector<int> *list;
std::shared_ptr<int> *owner;

void new_square()
{
    made = new (room) square;
    watch(room, sizeof(void *));
}
void destroy_square()
{
    meet();
    if (!safe)
        made->~shape(); /* writes the class of the base */
}
void call_square()
{
    meet();
    sink = made->area();
}
void destroy_later()
{
    if (safe)
        made->~shape();
}

void new_list()
{
    list = new std::vector<int>(4);
    watch(list, sizeof *list);
}
void grow_list()
{
    begin();
    list->push_back(1);
    end();
}
void measure_list()
{
    begin();
    sink = (int)list->size();
    end();
}
void drop_list()
{
    delete list;
}

void new_owner()
{
    owner = new std::shared_ptr<int>(new int(1));
    watch(owner, sizeof *owner);
}
void empty_owner()
{
    begin();
    std::shared_ptr<int> taken = std::move(*owner);
    end();
    meet(); /* what it owns lives on */
}
void copy_owner()
{
    begin();
    sink = owner->get() != nullptr;
    end();
    meet();
}
void drop_owner()
{
    delete owner;
}

const overlap cases[] = {
    {"vptr", new_square, destroy_square, call_square, destroy_later},
    {"vector_size", new_list, grow_list, measure_list, drop_list},
    {"owning_pointer", new_owner, empty_owner, copy_owner, drop_owner},
};

} // namespace

CASES_MAIN(cases)
