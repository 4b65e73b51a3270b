/* The order of the runtime's own locks. Layer: runtime. A thread may acquire a lock only while every lock it holds has
 * a smaller rank; so no two threads wait for each other. Built with the option check_lock_order, each acquisition is
 * checked against a per-thread stack of ranks: one that breaks the order prints a line and aborts. Locks of the
 * program, and those of a healing policy, which are the program's as far as order goes, have no rank. */
#ifndef DH_RUNTIME_PLATFORM_LOCK_ORDER_H
#define DH_RUNTIME_PLATFORM_LOCK_ORDER_H

enum dh_lock_rank {
    /* The recorder's lock of an atomic variable, held from before the operation until it is recorded: every observer
     * that follows in sync/observers.def may acquire its own under it. */
    DH_RANK_RECORD_ATOMIC = -1,
    /* A bucket of synchronisation objects, of race and stale; held while clocks are joined and, by atomics, while the
     * access is checked. 0, since the table is not initialised. */
    DH_RANK_SYNC_OBJECT = 0,
    /* A shard of adversarial memory. Only one at a time. */
    DH_RANK_STALE_SHARD,
    /* The slots of the race detector's threads: under them all cells may be forgotten. */
    DH_RANK_RACE_SLOTS,
    /* Shadow lines and other tables of the race detector. */
    DH_RANK_RACE_TABLES,
    /* Those under which no other is acquired. */
    DH_RANK_RACE_BLOCKS,      /* records of heap blocks */
    DH_RANK_RACE_FIBERS,      /* the list of fibers */
    DH_RANK_STALE_SLOTS,      /* threads of adversarial memory */
    DH_RANK_STALE_WATCH,      /* which elements are served */
    DH_RANK_RACY_ELEMENTS,    /* where racy elements lie */
    DH_RANK_RECORD_STATES,    /* states of ended threads, to be used again */
    DH_RANK_ATOMRACE_STATES,  /* the same of AtomRace */
    DH_RANK_ATOMRACE_MONITOR, /* sections under way */
    DH_RANK_GLIB_POOLS        /* functions of pools of threads */
};

#ifdef DH_CHECK_LOCK_ORDER
void dh_lock_order_acquire(int rank);
void dh_lock_order_release(int rank);
#else
static inline void dh_lock_order_acquire(int rank)
{
    (void)rank;
}
static inline void dh_lock_order_release(int rank)
{
    (void)rank;
}
#endif

#endif
