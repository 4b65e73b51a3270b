/* Litmus programs for RC11, those without a source in brackets our own, and whether it allows the outcome they are
 * about (C). [rc11] Lahav, Vafeiadis, Kang, Hur, Dreyer, Repairing Sequential Consistency in C/C++11, PLDI 2017.
 * [batty] Batty, Owens, Sarkar, Sewell, Weber, Mathematizing C++ Concurrency, POPL 2011. [cats] shapes of Herding Cats,
 * TOPLAS 2014. [p0982] Boehm, Giroux, Vafeiadis, Weaken Release Sequences, WG21 2018. [cpp] the standard, 6.9.2
 * and 33.5.4. */
#ifndef DH_TESTS_MEMORY_C11_PROGRAMS_H
#define DH_TESTS_MEMORY_C11_PROGRAMS_H

#include "memory_check.h"

static const struct litmus_row c11_rows[] = {
    /* store buffering */
    {"SB, seq_cst stores only", "x=1.sc; a=y.acq | y=1.sc; b=x.acq", "", "00", "C"},
    {"SB, seq_cst loads only", "x=1.rel; a=y.sc | y=1.rel; b=x.sc", "", "00", "C"},
    {"SB, one access not seq_cst", "x=1.sc; a=y.sc | y=1.rel; b=x.sc", "", "00", "C"},
    {"SB, fences [rc11]", "x=1.rlx; F.sc; a=y.rlx | y=1.rlx; F.sc; b=x.rlx", "", "00", ""},
    {"SB, one fence", "x=1.rlx; F.sc; a=y.rlx | y=1.rlx; b=x.rlx", "", "00", "C"},
    {"SB, a fence and seq_cst", "x=1.rlx; F.sc; a=y.rlx | y=1.sc; b=x.sc", "", "00", ""},
    {"SB, acq_rel fences", "x=1.rlx; F.ar; a=y.rlx | y=1.rlx; F.ar; b=x.rlx", "", "00", "C"},
    {"SB, exchanges", "c=x:=1.ar; a=y.acq | d=y:=1.ar; b=x.acq", "", "0000", "C"},
    {"SB, exchanges that are seq_cst", "c=x:=1.sc; a=y.sc | d=y:=1.sc; b=x.sc", "", "0000", ""},
    {"SB, an update of a third variable between", "x=1.rlx; c=z+=1.ar; a=y.rlx | y=1.rlx; d=z+=1.ar; b=x.rlx", "",
     "0001", ""},
    {"SB, that update relaxed", "x=1.rlx; c=z+=1.rlx; a=y.rlx | y=1.rlx; d=z+=1.rlx; b=x.rlx", "", "0001", "C"},
    {"SB, locks", "lock; x=1; a=y; unlock | lock; y=1; b=x; unlock", "", "00", ""},
    {"3.SB, fences [cats]", "x=1.rlx; F.sc; a=y.rlx | y=1.rlx; F.sc; b=z.rlx | z=1.rlx; F.sc; c=x.rlx", "", "000", ""},
    {"3.SB, two fences", "x=1.rlx; F.sc; a=y.rlx | y=1.rlx; F.sc; b=z.rlx | z=1.rlx; c=x.rlx", "", "000", "C"},
    /* message passing */
    {"MP, relaxed [batty]", "x=1.rlx; y=1.rlx | a=y.rlx; b=x.rlx", "", "10", "C"},
    {"MP, release and relaxed", "x=1.rlx; y=1.rel | a=y.rlx; b=x.rlx", "", "10", "C"},
    {"MP, relaxed and acquire", "x=1.rlx; y=1.rlx | a=y.acq; b=x.rlx", "", "10", "C"},
    {"MP, release fence, acquire load [cpp]", "x=1; F.rel; y=1.rlx | a=y.acq; b=x", "", "10", ""},
    {"MP, release store, acquire fence [cpp]", "x=1; y=1.rel | a=y.rlx; F.acq; b=x", "", "10", ""},
    {"MP, release fence too early", "F.rel; x=1; y=1.rlx | a=y.acq; b=x", "", "10", "C"},
    {"MP, acquire fence too early", "x=1; y=1.rel | F.acq; a=y.rlx; b=x", "", "10", "C"},
    {"MP, seq_cst", "x=1; y=1.sc | a=y.sc; b=x", "", "10", ""},
    /* release sequences */
    {"so does one that failed, not", "x=1; y=1.rel | a=y?2:3.rlx | b=y.acq; c=x", "", "110", ""},
    {"two updates", "x=1; y=1.rel | a=y+=1.rlx; b=y+=1.rlx | c=y.acq; d=x", "", "1230", ""},
    {"another's store ends it [cpp]", "x=1; y=1.rel | y=2.rlx | a=y.acq; b=x", "", "20", "C"},
    {"the thread's own store ends it [p0982]", "x=1; y=1.rel; y=2.rlx | a=y.acq; b=x", "", "20", "C"},
    {"of a fence", "x=1; F.rel; y=1.rlx | a=y+=1.rlx | b=y.rlx; F.acq; c=x", "", "120", ""},
    {"an update that acquires only hands it on", "x=1; y=1.rel | a=y+=1.acq | b=y.acq; c=x", "", "120", ""},
    /* load buffering and thin air: excluded */
    {"LB, relaxed [rc11]", "a=x.rlx; y=1.rlx | b=y.rlx; x=1.rlx", "", "11", ""},
    {"LB, dependent [rc11]", "a=x.rlx; y=a.rlx | b=y.rlx; x=b.rlx", "", "11", ""},
    /* write orders */
    {"S, relaxed [cats]", "x=2.rlx; y=1.rlx | a=y.rlx; x=1.rlx", "x", "12", "C"},
    {"S, release and acquire", "x=2.rlx; y=1.rel | a=y.acq; x=1.rlx", "x", "12", ""},
    {"R, release [cats]", "x=1.rlx; y=1.rel | y=2.rel; a=x.acq", "y", "02", "C"},
    {"R, seq_cst", "x=1.sc; y=1.sc | y=2.sc; a=x.sc", "y", "02", ""},
    {"R, fences", "x=1.rlx; F.sc; y=1.rlx | y=2.rlx; F.sc; a=x.rlx", "y", "02", ""},
    {"2+2W, relaxed [cats]", "x=1.rlx; y=2.rlx | y=1.rlx; x=2.rlx", "xy", "11", "C"},
    {"2+2W, release [rc11]", "x=1.rel; y=2.rel | y=1.rel; x=2.rel", "xy", "11", "C"},
    {"2+2W, seq_cst", "x=1.sc; y=2.sc | y=1.sc; x=2.sc", "xy", "11", ""},
    {"2+2W, fences", "x=1.rlx; F.sc; y=2.rlx | y=1.rlx; F.sc; x=2.rlx", "xy", "11", ""},
    {"2+2W, updates", "a=x:=1.ar; b=y:=2.ar | c=y:=1.ar; d=x:=2.ar", "", "2020", ""},
    /* three and four threads */
    {"WRC, relaxed [batty]", "x=1.rlx | a=x.rlx; y=1.rlx | b=y.rlx; c=x.rlx", "", "110", "C"},
    {"WRC, release and acquire [batty]", "x=1.rlx | a=x.rlx; y=1.rel | b=y.acq; c=x.rlx", "", "110", ""},
    {"ISA2, release and acquire [batty]", "x=1; y=1.rel | a=y.acq; z=1.rel | b=z.acq; c=x", "", "110", ""},
    {"ISA2, the middle relaxed", "x=1; y=1.rel | a=y.rlx; z=1.rel | b=z.acq; c=x", "", "110", "C"},
    {"IRIW, release and acquire [batty]", "x=1.rel | y=1.rel | a=x.acq; b=y.acq | c=y.acq; d=x.acq", "", "1010", "C"},
    {"IRIW, seq_cst [batty]", "x=1.sc | y=1.sc | a=x.sc; b=y.sc | c=y.sc; d=x.sc", "", "1010", ""},
    {"IRIW-acq-sc [rc11]", "x=1.sc | a=x.acq; b=y.sc | c=y.acq; d=x.sc | y=1.sc", "", "1010", "C"},
    {"IRIW, fences [rc11]", "x=1.rlx | y=1.rlx | a=x.rlx; F.sc; b=y.rlx | c=y.rlx; F.sc; d=x.rlx", "", "1010", ""},
    {"RWC+syncs [rc11]", "x=1.rlx | a=x.acq; F.sc; b=y.rlx | y=1.rlx; F.sc; c=x.rlx", "", "100", ""},
    {"W+RWC [rc11]", "x=1.rlx; z=1.rel | a=z.acq; F.sc; b=y.rlx | y=1.rlx; F.sc; c=x.rlx", "", "100", ""},
    {"W+RWC, seq_cst", "x=1.sc; z=1.rel | a=z.acq; b=y.sc | y=1.sc; c=x.sc", "", "100", ""},
    {"W+RWC, seq_cst, relaxed between", "x=1.sc; z=1.rlx | a=z.rlx; b=y.sc | y=1.sc; c=x.sc", "", "100", "C"},
    {"W+RWC, seq_cst, fences between", "x=1.sc; F.rel; z=1.rlx | a=z.rlx; F.acq; b=y.sc | y=1.sc; c=x.sc", "", "100",
     ""},
    {"W+RWC, seq_cst, a lock between", "x=1.sc; lock; z=1; unlock | lock; b=y.sc; a=z; unlock | y=1.sc; c=x.sc", "",
     "100", ""},
    {"W+RWC, seq_cst, a lock between, not taken after",
     "x=1.sc; lock; z=1; unlock | lock; b=y.sc; a=z; unlock | y=1.sc; c=x.sc", "", "000", "C"},
    {"Z6.U [rc11]", "x=1.sc; y=1.rel | b=y+=1.sc; c=y.rlx | y=3.sc; a=x.sc", "", "013", "C"},
    /* coherence and atomicity */
    {"CoRR [batty]", "x=1.rlx | a=x.rlx; b=x.rlx", "", "10", ""},
    {"CoRR, two readers", "x=1.rlx | x=2.rlx | a=x.rlx; b=x.rlx | c=x.rlx; d=x.rlx", "", "1221", ""},
    {"CoWW [batty]", "x=1.rlx; x=2.rlx", "x", "1", ""},
    {"CoRW [batty]", "a=x.rlx; x=1.rlx | x=2.rlx", "x", "22", ""},
    {"CoWR [batty]", "x=1.rlx; a=x.rlx | x=2.rlx", "x", "21", ""},
    {"CoRR across threads", "x=1.rlx; x=2.rlx | a=x.rlx; y=1.rel | b=y.acq; c=x.rlx", "", "211", ""},
    {"increments", "a=x+=1.rlx | b=x+=1.rlx", "x", "012", "C"},
    {"increments, one lost", "a=x+=1.rlx | b=x+=1.rlx", "x", "001", ""},
    {"three increments", "a=x+=1.rlx | b=x+=1.rlx | c=x+=1.rlx", "x", "0213", "C"},
    {"two who win", "a=x?0:1.acq | b=x?0:2.acq", "", "00", ""},
    {"a store between", "a=x:=1.rlx | x=2.rlx", "x", "01", ""},
    {"a store after, executed before", "a=x:=1.rlx | x=2.rlx; b=y.rlx | y=1.rlx", "x", "012", "C"},
};

enum { C11_ROWS = sizeof c11_rows / sizeof *c11_rows };

#endif
