/* How often each task came to each place in this schedule. A hash table in KEEP memory, so none of base/map.h; entries
 * of earlier schedules (stamp) are free. */
#include "runtime/engine/engine.h"

#include "base/hash.h"

enum { BEGIN_BITS = 12 };

struct entry {
    uint32_t task, place;
    uint32_t stamp, count;
};

static struct table {
    struct entry *at;
    uint32_t bits, stamp, used;
} *table;

bool dh_occurrence_counts_init(void)
{
    table = dh_keep_alloc(sizeof *table);
    if (!table)
        return false;
    table->bits = BEGIN_BITS;
    table->at = dh_keep_alloc(sizeof *table->at << BEGIN_BITS);
    return table->at;
}

void dh_occurrence_counts_reset(void)
{
    table->stamp++;
    table->used = 0;
}

static uint32_t slot_of(uint32_t task, uint32_t place)
{
    uint64_t key = (uint64_t)task << 32 | place;
    return (uint32_t)(dh_hash_multiply(key) >> (64 - table->bits));
}

static struct entry *find_entry(uint32_t task, uint32_t place)
{
    uint32_t mask = (1u << table->bits) - 1;
    for (uint32_t i = slot_of(task, place);; i = (i + 1) & mask) {
        struct entry *e = &table->at[i];
        if (e->stamp != table->stamp || (e->task == task && e->place == place))
            return e;
    }
}

/* Without memory the full table stays, and occurrences are no longer counted. */
static bool grow(void)
{
    struct entry *old = table->at;
    uint32_t n = 1u << table->bits;
    struct entry *larger = dh_keep_alloc(sizeof *larger * n * 2);
    if (!larger)
        return false;
    table->at = larger;
    table->bits++;
    for (uint32_t i = 0; i < n; i++)
        if (old[i].stamp == table->stamp)
            *find_entry(old[i].task, old[i].place) = old[i];
    return true;
}

uint32_t dh_occurrence_counts_next(uint32_t task, uint32_t place)
{
    if (table->used * 4 >= 3u << table->bits && !grow())
        return 0;
    struct entry *e = find_entry(task, place);
    if (e->stamp != table->stamp) {
        *e = (struct entry){task, place, table->stamp, 0};
        table->used++;
    }
    return e->count++;
}
