/* The protocol of src/detect/consistency.h on one granule: words in a cell, what each thread remembers, hooks that stand
 * before their accesses. Steps are those that other threads can come between: a load, a compare-exchange, an access.
 *
 * Scenarios (-D): INCREMENT  each thread reads and writes in one activation, twice
 *                 REENTRANCE the same through an inner function on the same object
 *                 READWRITE  one thread reads three times, the other writes
 *                 MONITOR    increments under a lock
 *                 WAIT       a condition wait between two accesses, in which the other thread works
 * What must hold: an update is lost, or two reads differ, only if somebody is told (at the latest at the next look: a write
 * between a hook and the read behind it is seen then); somebody is told only if two
 * activations overlapped; under a monitor nobody is told.
 * Mutants (-D), each of which must fail: STORE  a thread whose word is in the cell stores instead of exchanging
 *                 FORGET  a reader does not look whether the writer's unit goes on
 *                 NOSPLIT a wait does not end the unit
 *                 NESTED  an inner function on the same object begins a unit */

#define THREADS 2
#define NOBODY 0

/* writer * 64 + unit * 4 + READ * 2 + FRESH */
#define WORD(t, u) ((t) * 64 + (u) * 4 + 1)
#define WRITER(w) ((w) / 64)
#define UNIT(w) (((w) / 4) % 16)
#define FRESH(w) ((w) % 2)
#define READ(w) (((w) / 2) % 2)
#define BARE(w) ((w) - (w) % 4)
#define STRANGE(w) (WRITER(w) != NOBODY && WRITER(w) != me)

int cell = 0;
byte ctr = 0;
byte unit_of[THREADS + 1]; /* the unit a thread is in */
byte next_unit[THREADS + 1];
byte going[THREADS + 1]; /* unit that goes on and has not released, 0: none */
byte closed[THREADS + 1];
bool told = false;
bool overlapped = false;
byte busy = 0; /* threads that are in the function */
byte object[THREADS + 1]; /* of the activation; 0: none */
byte differ = 0;
bool lock = false;
bool waiting = false;
bool worked = false;
byte ended = 0;

/* An entry: of which unit, what was seen, and how. */
typedef entry {
    byte unit;
    int seen;
    bool wrote;
    bool overlap
};
entry e[THREADS + 1];

inline set_unit(u)
{
    unit_of[me] = u;
    going[me] = (u > closed[me] -> u : 0)
}

/* A function on the object begins and ends; of an inner one the caller says where to go back to. */
inline enter()
{
    atomic {
        next_unit[me]++;
        set_unit(next_unit[me]);
        object[me] = 1;
        busy++;
        if
        :: busy > 1 -> overlapped = true
        :: else
        fi
    }
}

inline leave()
{
    atomic {
        next_unit[me]++;
        set_unit(next_unit[me]); /* that of the caller: another */
        object[me] = 0;
        busy--
    }
}

inline enter_inner(back)
{
    atomic {
        back = unit_of[me];
        if
#ifndef NESTED
        :: object[me] == 1 -> skip
#endif
        :: else ->
            next_unit[me]++;
            set_unit(next_unit[me])
        fi
    }
}

inline leave_inner(back)
{
    atomic { set_unit(back) }
}

inline split()
{
#ifndef NOSPLIT
    atomic {
        next_unit[me]++;
        set_unit(next_unit[me])
    }
#else
    skip
#endif
}

inline close()
{
    atomic {
        closed[me] = next_unit[me];
        going[me] = 0
    }
}

/* seen without READ: that alone is no new word */
#define CHANGED (old - 2 * READ(old) != e[me].seen - 2 * READ(e[me].seen))

inline hook_read(place)
{
    done = false;
    do
    :: !done ->
        old = cell;
        same = (e[me].unit == unit_of[me] && e[me].unit != 0);
        if
        :: same && STRANGE(old) && (CHANGED || e[me].overlap) -> told = true
        :: else
        fi;
        now = old;
        over = false;
        if
        :: STRANGE(old) && (FRESH(old) || READ(old)) ->
#ifdef FORGET
            over = false;
#else
            over = (going[WRITER(old)] == UNIT(old));
#endif
            now = (over -> BARE(old) + 2 : BARE(old));
        :: else
        fi;
        if
        :: now != old ->
            atomic {
                if
                :: cell == old -> cell = now; done = true
                :: else
                fi
            }
        :: else -> done = true
        fi
    :: else -> break
    od;
    atomic {
        e[me].unit = unit_of[me];
        e[me].seen = now;
        e[me].wrote = false;
        e[me].overlap = over
    }
}

inline hook_write(place)
{
    done = false;
    do
    :: !done ->
        old = cell;
        same = (e[me].unit == unit_of[me] && e[me].unit != 0);
        if
        :: WRITER(old) == me && READ(old) && same && e[me].wrote && UNIT(old) == unit_of[me] -> told = true
        :: STRANGE(old) && same && !e[me].wrote && (CHANGED || e[me].overlap) -> told = true
        :: else
        fi;
        now = WORD(me, unit_of[me]);
#ifdef STORE
        if
        :: WRITER(old) == me && !READ(old) -> cell = now; done = true
        :: else
        fi;
#endif
        if
        :: !done ->
            atomic {
                if
                :: cell == old -> cell = now; done = true
                :: else
                fi
            }
        :: else
        fi
    :: else -> break
    od;
    atomic {
        e[me].unit = unit_of[me];
        e[me].seen = now;
        e[me].wrote = true;
        e[me].overlap = false
    }
}

inline take()
{
    atomic { !lock -> lock = true };
    split()
}

inline give()
{
    close();
    lock = false
}

#if defined(INCREMENT) || defined(REENTRANCE) || defined(MONITOR)
active [THREADS] proctype worker()
{
    byte me = _pid + 1, value, rounds = 0, back;
    int old, now;
    bool same, over, done;
    do
    :: rounds < 2 ->
        enter();
#ifdef MONITOR
        take();
#endif
#ifdef REENTRANCE
        enter_inner(back);
        hook_read(1);
        value = ctr;
        leave_inner(back);
        enter_inner(back);
        hook_write(2);
        ctr = value + 1;
        leave_inner(back);
#else
        hook_read(1);
        value = ctr;
        hook_write(2);
        ctr = value + 1;
#endif
#ifdef MONITOR
        give();
#endif
        leave();
        rounds++
    :: else -> break
    od;
    ended++
}
#endif

#ifdef READWRITE
active proctype reader()
{
    byte me = 1, first, second;
    int old, now;
    bool same, over, done;
    enter();
    hook_read(1);
    first = ctr;
    hook_read(2);
    second = ctr;
    hook_read(3);
    leave();
    differ = (first != second -> 1 : 0);
    ended++
}

active proctype writer()
{
    byte me = 2;
    int old, now;
    bool same, over, done;
    enter();
    hook_write(4);
    ctr = 1;
    leave();
    ended++
}
#endif

#ifdef WAIT
active proctype waiter()
{
    byte me = 1, value;
    int old, now;
    bool same, over, done;
    enter();
    take();
    hook_read(1);
    value = ctr;
    waiting = true;
    close();
    lock = false;
    worked;
    atomic { !lock -> lock = true };
    split();
    hook_read(2);
    value = ctr;
    hook_write(3);
    ctr = value + 1;
    give();
    leave();
    ended++
}

active proctype worker()
{
    byte me = 2, value;
    int old, now;
    bool same, over, done;
    waiting;
    enter();
    take();
    hook_read(4);
    value = ctr;
    hook_write(5);
    ctr = value + 1;
    give();
    leave();
    worked = true;
    ended++
}
#endif

active proctype check()
{
    ended == THREADS;
#if defined(INCREMENT) || defined(REENTRANCE)
    assert(ctr == 2 * THREADS || told);
    assert(!told || overlapped);
#endif
#ifdef READWRITE
    assert(!differ || told);
    assert(!told || overlapped);
#endif
#ifdef MONITOR
    assert(ctr == 2 * THREADS && !told);
#endif
#ifdef WAIT
    assert(ctr == 2 && !told);
#endif
}
