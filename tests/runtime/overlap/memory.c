/* Sizes, kinds of accesses and kinds of memory. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "cases.h"

/* Of library.c: instrumented, in a shared library. */
void library_write(int *at);
int library_read(const int *at);

typedef uint64_t vector __attribute__((vector_size(16)));
struct packet {
    int header, fields[7];
};
struct flags {
    unsigned low : 5, high : 11;
};
struct __attribute__((packed)) crossing {
    char before[61];
    uint64_t word; /* over the end of a line */
};

static _Thread_local volatile int sink;
static volatile size_t forty = 40, twenty_nine = 29; /* not for the compiler to know */
static int shared_int;
static char *fresh; /* of the heap, anew each time */

#define IN_BOTH(access)                                                                                                \
    begin();                                                                                                           \
    access;                                                                                                            \
    end()

static void new_block(void)
{
    fresh = aligned_alloc(64, 128);
    watch(fresh, 128);
}

static void drop_block(void)
{
    free(fresh);
}

/* ---- a global, read and written ---- */

static void watch_global(void)
{
    watch(&shared_int, sizeof shared_int);
}
static void global_write(void)
{
    IN_BOTH(shared_int = 1);
}
static void global_read(void)
{
    IN_BOTH(sink = shared_int);
}
static void global_add(void)
{
    IN_BOTH(shared_int++);
}

/* ---- a block of the heap that nobody has touched ---- */

#define ACCESS(name, type, offset, how)                                                                                \
    static void name(void)                                                                                             \
    {                                                                                                                  \
        type *at = (type *)(fresh + (offset));                                                                         \
        begin();                                                                                                       \
        how;                                                                                                           \
        end();                                                                                                         \
    }
ACCESS(write_int, int, 16, *at = 1)
ACCESS(read_int, int, 16, sink = *at)
ACCESS(write_long, uint64_t, 16, *at = 1)
ACCESS(write_upper_half, uint32_t, 20, *at = 1)
ACCESS(read_byte, char, 18, sink = *at)
ACCESS(write_byte, char, 18, *at = 1)
ACCESS(write_other_byte, char, 19, *at = 1)
ACCESS(write_vector, vector, 16, *at = ((vector){1, 2}))
ACCESS(read_end_of_vector, char, 31, sink = *at)
ACCESS(write_crossing, struct crossing, 0, at->word = 1)
ACCESS(read_behind_line, char, 65, sink = *at)
ACCESS(copy_packet, struct packet, 0, *at = *(struct packet *)(fresh + 64))
ACCESS(write_field, struct packet, 0, at->fields[4] = 1)
ACCESS(fill, char, 3, memset(at, 1, twenty_nine))
ACCESS(write_double, double, 24, *at = 1.5)
ACCESS(write_low_bits, struct flags, 16, at->low = 1)
ACCESS(write_high_bits, struct flags, 16, at->high = 1)
ACCESS(store_atomic, int, 16, __atomic_store_n(at, 1, __ATOMIC_RELEASE))
ACCESS(add_atomic, int, 16, __atomic_fetch_add(at, 1, __ATOMIC_SEQ_CST))
ACCESS(write_in_library, int, 16, library_write(at))
ACCESS(read_in_library, int, 16, sink = library_read(at))

static void copy_from(void)
{
    char here[40];
    begin();
    memcpy(here, fresh, forty);
    end();
    sink = here[20];
}

/* Granules that were written before by somebody else. */
static void used_block(void)
{
    new_block();
    memset(fresh, 0, 128);
}

/* Neighbours: silent without any lock. */
static bool was_safe;
static void unguarded_block(void)
{
    was_safe = safe;
    new_block();
    if (safe)
        safe = false;
}
static void write_neighbour(void)
{
    char *at = fresh + (was_safe ? 17 : 18);
    IN_BOTH(*at = 1);
}
static void drop_unguarded(void)
{
    safe = was_safe;
    drop_block();
}

/* ---- the first accesses to a page ---- */

static void new_page(void)
{
    fresh = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    watch(fresh, 4096);
}
static void drop_page(void)
{
    munmap(fresh, 4096);
}

/* ---- a stack, thread-local storage: the owner stays until the other is through ---- */

static _Thread_local int mine;
static void owner_of_local(void)
{
    volatile int local;
    watch((void *)&local, sizeof local);
    meet();
    IN_BOTH(local = 1);
    meet();
}
static void owner_of_thread_local(void)
{
    watch(&mine, sizeof mine);
    meet();
    IN_BOTH(mine = 1);
    meet();
}
static void visitor(void)
{
    meet();
    int *at = watched();
    IN_BOTH(sink = *at);
    meet();
}

/* ---- freed while it is used ---- */

static void free_it(void)
{
    meet();
    if (!safe)
        free(fresh);
}
static void use_it(void)
{
    meet();
    sink = fresh[16];
}
static void free_later(void)
{
    if (safe)
        free(fresh);
}

static const struct overlap cases[] = {
    {"write_write", watch_global, global_write, global_write, NULL},
    {"write_read", watch_global, global_write, global_read, NULL},
    {"add_add", watch_global, global_add, global_add, NULL},
    {"heap_write_read", new_block, write_int, read_int, drop_block},
    {"long_half", new_block, write_long, write_upper_half, drop_block},
    {"byte_in_word", new_block, read_byte, write_int, drop_block},
    {"byte_byte", new_block, write_byte, write_byte, drop_block},
    {"byte_in_used_word", used_block, write_byte, write_int, drop_block},
    {"byte_byte_used", used_block, write_byte, read_byte, drop_block},
    {"neighbour_bytes", unguarded_block, write_byte, write_neighbour, drop_unguarded},
    {"vector_byte", new_block, write_vector, read_end_of_vector, drop_block},
    {"vector_vector", used_block, write_vector, write_vector, drop_block},
    {"crossing_line", new_block, write_crossing, read_behind_line, drop_block},
    {"struct_copy_field", new_block, copy_packet, write_field, drop_block},
    {"memcpy_store", new_block, copy_from, write_int, drop_block},
    {"memset_double", new_block, fill, write_double, drop_block},
    {"memset_memcpy", used_block, fill, copy_from, drop_block},
    {"bitfields", new_block, write_low_bits, write_high_bits, drop_block},
    {"atomic_read", new_block, store_atomic, read_int, drop_block},
    {"atomic_write", used_block, add_atomic, write_int, drop_block},
    {"library_both", new_block, write_in_library, read_in_library, drop_block},
    {"library_one", new_block, write_in_library, read_int, drop_block},
    {"first_of_page", new_page, write_int, read_int, drop_page},
    {"first_writes_of_page", new_page, write_long, write_byte, drop_page},
    {"stack", NULL, owner_of_local, visitor, NULL},
    {"thread_local", NULL, owner_of_thread_local, visitor, NULL},
    {"free_use", new_block, free_it, use_it, free_later},
};

CASES_MAIN(cases)
