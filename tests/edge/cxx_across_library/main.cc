#include "shapes.h"
#include <cstdio>
int main()
{
    Circle own(1);
    std::printf("%d\n", is_circle(own));
    for (int k = 0; k < 3; k++)
        try {
            auto s = make_shape(k);
            std::printf("%g %d\n", s->area(), dynamic_cast<Circle *>(s.get()) != nullptr);
        } catch (const BadShape &e) {
            std::printf("%s %d\n", e.what(), e.code);
        }
    std::printf("%d %d\n", shared_count(), shared_variable);
}
