#include "shared.h"

int main()
{
    Base *b = make();
    local() += 5;
    std::printf("%d %d %d\n", &counter == address_of_counter(), &local() == address_of_local(), bump());
    std::printf("%d %d %d\n", b->id(), typeid(*b) == typeid(Made<5>), dynamic_cast<Made<5> *>(b) != nullptr);
    std::printf("%d %d\n", Registry<int>::count, *Registry<int>::head);
    delete b;
}
