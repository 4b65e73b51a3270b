#include "runtime/race/history.h"

#include "runtime/platform/raw_syscall.h"

#include <sys/mman.h>

bool dh_history_init(struct dh_race_history *h, uint64_t size)
{
    size_t part = DH_HISTORY_PART * sizeof *h->words;
    *h = (struct dh_race_history){.size = size};
    char *block = dh_sys_mmap(size * sizeof *h->words + part, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
    if (!block)
        return false;
    h->block = block;
    h->words = h->part = h->cursor = (uint64_t *)(((uintptr_t)block + part - 1) & ~(uintptr_t)(part - 1));
    return true;
}

/* Readers that see the new `before` with the old part see words that are not there yet as old ones: harmless, since
 * they read `next` again. */
void dh_history_next_part(struct dh_race_history *h)
{
    while (h->cursor < h->part + DH_HISTORY_PART && h->cursor != h->part)
        dh_history_add(h, dh_history_meta(DH_META_PAD, 0));
    if (h->cursor == h->part)
        return;
    uint64_t *next = h->part + DH_HISTORY_PART;
    if (next == h->words + h->size)
        next = h->words;
    __atomic_store_n(&h->before, h->before + DH_HISTORY_PART, __ATOMIC_RELEASE);
    __atomic_store_n(&h->part, next, __ATOMIC_RELEASE);
    __atomic_store_n(&h->cursor, next, __ATOMIC_RELEASE);
}

void dh_history_release(struct dh_race_history *h)
{
    if (h->words)
        dh_sys_munmap(h->block, h->size * sizeof *h->words + DH_HISTORY_PART * sizeof *h->words);
    h->words = NULL;
}

struct reader {
    const struct dh_race_history *h;
    uint64_t at, end;
    uint32_t time, context, lock_context;
    uint32_t n_locks;
    struct dh_history_lock lock[DH_HISTORY_LOCKS];
};

static uint64_t word_at(const struct dh_race_history *h, uint64_t at)
{
    return __atomic_load_n(&h->words[at & (h->size - 1)], __ATOMIC_RELAXED);
}

/* The oldest part that is not overwritten. */
static uint64_t oldest(const struct dh_race_history *h, uint64_t next)
{
    uint64_t lost = next > h->size ? next - h->size : 0;
    return (lost + DH_HISTORY_PART - 1) & ~(uint64_t)(DH_HISTORY_PART - 1);
}

static void acquire(struct reader *r, uintptr_t lock, uint32_t context)
{
    if (r->n_locks < DH_HISTORY_LOCKS)
        r->lock[r->n_locks++] = (struct dh_history_lock){lock, context};
}

static void release(struct reader *r, uintptr_t lock)
{
    for (uint32_t i = r->n_locks; i-- > 0;)
        if ((r->lock[i].lock & ~(uintptr_t)1) == (lock & ~(uintptr_t)1)) {
            r->lock[i] = r->lock[--r->n_locks];
            return;
        }
}

static void read_meta(struct reader *r, uint64_t word)
{
    uint64_t number = word & (((uint64_t)1 << 56) - 1);
    switch ((enum dh_history_meta)(word >> 56 & 63)) {
    case DH_META_TIME:
        r->time = (uint32_t)number;
        break;
    case DH_META_CONTEXT:
        r->context = (uint32_t)number;
        break;
    case DH_META_LOCK_CONTEXT:
        r->lock_context = (uint32_t)number;
        break;
    case DH_META_ACQUIRED:
        acquire(r, number, r->lock_context);
        break;
    case DH_META_RELEASED:
        release(r, number);
        break;
    case DH_META_NO_LOCKS:
        r->n_locks = 0;
        break;
    case DH_META_RESET:
    case DH_META_PAD:
    case DH_META_SIZE:
        break;
    }
}

/* The access that covers an address, by a word and, for a range, the SIZE after it. */
struct span {
    uint32_t from, size; /* relative to the word's address */
};

static bool covers(uint64_t word, uint64_t extent, uint32_t addr, struct span *t)
{
    uint32_t from = addr - (uint32_t)word, stride = extent >> 32 & 0xFFFF;
    bool range = word >> 62 == DH_HISTORY_RANGE, run = range && (word >> 58 & 7) == DH_HISTORY_STRIDED && stride;
    if (from >= (range ? (uint32_t)extent : 1u << (word >> 58 & 7)))
        return false;
    *t = run ? (struct span){from / stride * stride, extent >> 48 & 255}
             : (struct span){0, range ? (uint32_t)extent : 1u << (word >> 58 & 7)};
    return from - t->from < t->size;
}

static bool matches(const struct reader *r, const struct dh_history_query *q, uint64_t word)
{
    bool atomic = word >> 62 == DH_HISTORY_ATOMIC;
    struct span ignored;
    return r->time == q->time && atomic == q->atomic && (word >> 61 & 1) == q->wrote &&
           covers(word, word_at(r->h, r->at), (uint32_t)q->addr, &ignored);
}

static void describe_match(const struct reader *r, const struct dh_history_query *q, uint64_t word,
                           struct dh_history_answer *out)
{
    uint32_t before = (uint32_t)q->addr - (uint32_t)word;
    struct span t = {0};
    covers(word, word_at(r->h, r->at), (uint32_t)q->addr, &t);
    bool called = word >> 62 == DH_HISTORY_RANGE && (word >> 58 & 7) == DH_HISTORY_LIBRARY;
    uint32_t place = (uint32_t)(word >> 32) & DH_PLACE_NONE;
    out->place = called ? DH_PLACE_NONE : place;
    out->context = called ? place : r->context;
    out->addr = q->addr - before + t.from;
    out->size = t.size;
    out->n_locks = r->n_locks;
    for (uint32_t i = 0; i < r->n_locks; i++)
        out->lock[i] = r->lock[i];
}

enum search { NOT_FOUND, FOUND, CLOCKS_RESET };

/* The last match in a part, which begins with the whole state. Its thread may overwrite what is read. */
static enum search find_in_part(const struct dh_race_history *h, uint64_t part, uint64_t end,
                                const struct dh_history_query *q, struct dh_history_answer *out)
{
    struct reader r = {.h = h, .at = part, .end = end < part + DH_HISTORY_PART ? end : part + DH_HISTORY_PART};
    enum search result = NOT_FOUND;
    while (r.at < r.end) {
        uint64_t word = word_at(h, r.at++);
        if (word >> 62 == DH_HISTORY_META) {
            read_meta(&r, word);
            if ((word >> 56 & 63) == DH_META_RESET)
                result = CLOCKS_RESET; /* epochs began again from 0 */
        } else if (matches(&r, q, word)) {
            describe_match(&r, q, word, out);
            result = FOUND;
        }
    }
    return result == FOUND && dh_history_next(h) > part + h->size ? NOT_FOUND : result;
}

/* The epoch in which a part begins is its second word (access.c: write_state); 0 if it is another slot's. */
static uint32_t first_clock(const struct dh_race_history *h, uint64_t part, uint32_t time)
{
    uint64_t word = word_at(h, part + 1);
    bool same = word >> 56 == ((uint64_t)DH_HISTORY_META << 6 | DH_META_TIME) &&
                dh_epoch_slot((uint32_t)word) == dh_epoch_slot(time);
    return same ? dh_epoch_clock((uint32_t)word) : 0;
}

/* From the last part backwards. Epochs only grow: parts that are later as a whole are skipped, an earlier one ends the
 * search. */
bool dh_history_find(const struct dh_race_history *h, const struct dh_history_query *q, struct dh_history_answer *out)
{
    uint64_t end = h->words ? dh_history_next(h) : 0, first = h->words ? oldest(h, end) : 0;
    uint32_t wanted = dh_epoch_clock(q->time), later = 0;
    for (uint64_t part = (end + DH_HISTORY_PART - 1) / DH_HISTORY_PART * DH_HISTORY_PART; part > first;) {
        part -= DH_HISTORY_PART;
        uint32_t from = first_clock(h, part, q->time);
        bool all_later = from > wanted && later >= from;
        later = from;
        enum search result = all_later ? NOT_FOUND : find_in_part(h, part, end, q, out);
        if (result != NOT_FOUND)
            return result == FOUND;
        if (from && from < wanted)
            return false;
    }
    return false;
}

/* ---- backwards, for one granule ---- */

struct backwards {
    unsigned wanted;        /* bytes not found yet */
    unsigned without_epoch; /* found after the TIME that is searched for, going back */
    uint64_t extent;        /* from the SIZE word last read, of the range before it */
    unsigned n;
    struct dh_line_access *pairs;
};

static unsigned covered_bytes(const struct backwards *b, uint64_t word, uintptr_t granule)
{
    uint32_t mask = 0;
    struct span ignored;
    for (unsigned i = 0; i < 4; i++)
        if (covers(word, b->extent, (uint32_t)(granule + i), &ignored))
            mask |= 1u << i;
    return mask;
}

static void set_epoch(struct backwards *b, uint32_t time, bool writes)
{
    if (b->without_epoch && b->n < 4)
        b->pairs[b->n++] = (struct dh_line_access){b->without_epoch, time, writes ? DH_WRITES : DH_READS};
    b->without_epoch = 0;
}

unsigned dh_history_last_accesses(const struct dh_race_history *h, uintptr_t granule, bool writes,
                                  struct dh_line_access pairs[4])
{
    struct backwards b = {.wanted = 15, .pairs = pairs};
    uint64_t next = dh_history_next(h), end = h->words ? oldest(h, next) : next;
    while (next > end && (b.wanted || b.without_epoch)) {
        uint64_t word = word_at(h, --next);
        unsigned kind = (unsigned)(word >> 62), what = word >> 56 & 63;
        if (kind == DH_HISTORY_META && what == DH_META_TIME)
            set_epoch(&b, (uint32_t)word, writes);
        else if (kind == DH_HISTORY_META && what == DH_META_RESET)
            break;
        else if (kind == DH_HISTORY_META && what == DH_META_SIZE)
            b.extent = word;
        else if (kind != DH_HISTORY_META && kind != DH_HISTORY_ATOMIC && (word >> 61 & 1) == writes) {
            unsigned found = covered_bytes(&b, word, granule) & b.wanted;
            b.without_epoch |= found;
            b.wanted &= ~found;
        }
    }
    return b.n;
}
