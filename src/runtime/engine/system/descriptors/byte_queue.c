#include "runtime/engine/system/descriptors/byte_queue.h"

#include "runtime/engine/system/descriptors/descriptor.h"

enum { ROOM = DH_MODEL_BLOCK - sizeof(void *) };

struct dh_byte_block {
    struct dh_byte_block *next;
    char at[ROOM];
};

static struct dh_transfer memory(const struct iovec *piece)
{
    return (struct dh_transfer){.pieces = piece, .n = 1, .size = piece->iov_len};
}

static void add_block(struct dh_byte_queue *q)
{
    struct dh_byte_block *b = dh_model_alloc(DH_MODEL_BLOCK);
    if (q->last)
        q->last->next = b;
    else {
        q->first = b;
        q->begin = 0;
    }
    q->last = b;
    q->end = 0;
}

void dh_byte_queue_put(struct dh_byte_queue *q, const struct dh_transfer *t, size_t at, size_t n)
{
    for (size_t now; n; n -= now, at += now) {
        if (!q->last || q->end == ROOM)
            add_block(q);
        now = ROOM - q->end < n ? ROOM - q->end : n;
        dh_transfer_take(t, at, q->last->at + q->end, now);
        q->end += (uint32_t)now;
        q->n += now;
    }
}

void dh_byte_queue_put_raw(struct dh_byte_queue *q, const void *from, size_t n)
{
    struct iovec piece = {(void *)(uintptr_t)from, n};
    struct dh_transfer t = memory(&piece);
    dh_byte_queue_put(q, &t, 0, n);
}

void dh_byte_queue_peek(const struct dh_byte_queue *q, size_t skip, const struct dh_transfer *t, size_t at, size_t n)
{
    const struct dh_byte_block *b = q->first;
    size_t from = q->begin + skip;
    for (; b && from >= ROOM; from -= ROOM)
        b = b->next;
    for (size_t now; n && b; n -= now, at += now, from = 0, b = b->next) {
        now = ROOM - from < n ? ROOM - from : n;
        dh_transfer_give(t, at, b->at + from, now);
    }
}

void dh_byte_queue_peek_raw(const struct dh_byte_queue *q, size_t skip, void *to, size_t n)
{
    struct iovec piece = {to, n};
    struct dh_transfer t = memory(&piece);
    dh_byte_queue_peek(q, skip, &t, 0, n);
}

static void drop_block(struct dh_byte_queue *q)
{
    struct dh_byte_block *b = q->first;
    q->first = b->next;
    q->begin = 0;
    if (!q->first)
        q->last = NULL;
    dh_model_free(b, DH_MODEL_BLOCK);
}

void dh_byte_queue_drop(struct dh_byte_queue *q, size_t n)
{
    for (size_t now; n; n -= now) {
        uint32_t end = q->first == q->last ? q->end : (uint32_t)ROOM;
        now = end - q->begin < n ? end - q->begin : n;
        q->begin += (uint32_t)now;
        q->n -= now;
        if (q->begin == end)
            drop_block(q);
    }
}

void dh_byte_queue_release(struct dh_byte_queue *q)
{
    dh_byte_queue_drop(q, q->n);
}
