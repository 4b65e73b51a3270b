/* Litmus programs, those without a source in brackets our own, with plain accesses, locked updates and fences, and
 * which models allow the outcome they are about: S sc, T tso, P pso, C c11, H hb (and hbmm), M only hbmm. [cats]
 * Alglave, Maranget, Tautschnig, Herding Cats, TOPLAS 2014. [x86] Owens, Sarkar, Sewell, A Better x86 Memory Model:
 * x86-TSO, TPHOLs 2009 (names amd, iwp, n are theirs). [sparc] The SPARC Architecture Manual, version 8, chapter 6 and
 * appendix K, tests by the shapes of [cats]. [adv] Flanagan, Freund, Adversarial Memory, PLDI 2010. [jmm] Pugh, Manson,
 * Causality Test Cases for the Java Memory Model, 2004. [batty], [cpp]: memory_c11_programs.h. F.sc is MFENCE (MEMBAR),
 * F.rel is STBAR; registers in alphabetical order, then final values. */
#ifndef DH_TESTS_MEMORY_PROGRAMS_H
#define DH_TESTS_MEMORY_PROGRAMS_H

#include "memory_check.h"

static const struct litmus_row litmus_rows[] = {
    /* store buffering */
    {"SB [cats], amd4, iwp2.3a [x86]", "x=1; a=y | y=1; b=x", "", "00", "TPCH"},
    {"SB+mfences [cats], amd5 [x86]", "x=1; F.sc; a=y | y=1; F.sc; b=x", "", "00", "H"},
    {"SB+mfence+po [cats]", "x=1; F.sc; a=y | y=1; b=x", "", "00", "TPCH"},
    {"SB+stbars [sparc]", "x=1; F.rel; a=y | y=1; F.rel; b=x", "", "00", "TPCH"},
    {"iwp2.8a [x86]", "c=x:=1; a=y | d=y:=1; b=x", "", "0000", "CH"},
    {"SB with one locked", "c=x:=1; a=y | y=1; b=x", "", "000", "TPCH"},
    {"SB, seq_cst [batty]", "x=1.sc; a=y.sc | y=1.sc; b=x.sc", "", "00", ""},
    {"SB, relaxed [batty]", "x=1.rlx; a=y.rlx | y=1.rlx; b=x.rlx", "", "00", "TPCH"},
    {"SB, release and acquire [batty]", "x=1.rel; a=y.acq | y=1.rel; b=x.acq", "", "00", "TPCH"},
    {"SB+locks", "lock; x=1; unlock; a=y | lock; y=1; unlock; b=x", "", "00", ""},
    {"3.SB [cats]", "x=1; a=y | y=1; b=z | z=1; c=x", "", "000", "TPCH"},
    {"amd9, iwp2.4 [x86]", "x=1; a=x; b=y | y=1; c=y; d=x", "", "1010", "TPCH"},
    {"amd10 [x86]", "x=1; F.sc; a=x; b=y | y=1; F.sc; c=y; d=x", "", "1010", "H"},
    {"amd3 [x86]", "x=1; x=2; a=y | y=1; y=2; b=x", "", "11", "TPCH"},
    {"n6 [x86]", "x=1; a=x; b=y | y=2; x=2", "x", "101", "TPCH"},
    /* message passing */
    {"MP [cats], amd1, iwp2.1 [x86]", "x=1; y=1 | a=y; b=x", "", "10", "PCH"},
    {"MP+stbar [sparc]", "x=1; F.rel; y=1 | a=y; b=x", "", "10", "CH"},
    {"MP+mfences [cats]", "x=1; F.sc; y=1 | a=y; F.sc; b=x", "", "10", "H"},
    {"MP, release store", "x=1; y=1.rel | a=y; b=x", "", "10", "CH"},
    {"MP, release and acquire [batty]", "x=1; y=1.rel | a=y.acq; b=x", "", "10", ""},
    {"MP, release and acquire fences [cpp]", "x=1; F.rel; y=1.rlx | a=y.rlx; F.acq; b=x", "", "10", ""},
    {"MP, fences without atomics", "x=1; F.rel; y=1 | a=y; F.acq; b=x", "", "10", "CH"},
    {"MP+locks", "lock; x=1; y=1; unlock | lock; a=y; b=x; unlock", "", "10", ""},
    {"MP, half locked", "lock; x=1; y=1; unlock | a=y; b=x", "", "10", "PCH"},
    {"iwp2.8b [x86]", "c=x:=1; y=1 | a=y; b=x", "", "100", "CH"},
    {"double-checked locking, Fig. 2 [adv]", "lock; x=1; y=1; unlock | a=y; a==1?; b=x", "", "10", "PCH"},
    {"the same, corrected", "lock; x=1; y=1; unlock | lock; a=y; unlock; a==1?; b=x", "", "10", ""},
    {"the same, with atomics", "lock; x=1; y=1.rel; unlock | a=y.acq; a==1?; b=x", "", "10", ""},
    /* load buffering */
    {"LB [cats], amd2, iwp2.2 [x86]", "a=x; y=1 | b=y; x=1", "", "11", "M"},
    {"read then write, Fig. 4 [adv]", "a=x; y=1 | b=y; b==1?; x=1", "", "11", "M"},
    {"3.LB [cats]", "a=x; y=1 | b=y; z=1 | c=z; x=1", "", "111", "M"},
    {"causality 1 [jmm]", "a=x; y=1 | b=y; x=b", "", "11", "M"},
    {"causality 4, thin air [jmm]", "a=x; y=a | b=y; x=b", "", "11", ""},
    {"causality 7 [jmm]", "a=z; b=x; y=b | c=y; z=c; x=1", "", "111", "M"},
    {"causality 10, thin air by control [jmm]", "a=x; a==1?; y=1 | b=y; b==1?; x=1", "", "11", ""},
    /* write orders */
    {"S [cats]", "x=2; y=1 | a=y; x=1", "x", "12", "PCH"},
    {"S+stbar [sparc]", "x=2; F.rel; y=1 | a=y; x=1", "x", "12", "CH"},
    {"R [cats], n1 [x86]", "x=1; y=1 | y=2; a=x", "y", "02", "TPCH"},
    {"R+mfences [cats]", "x=1; F.sc; y=1 | y=2; F.sc; a=x", "y", "02", "H"},
    {"R+mfence+po", "x=1; F.sc; y=1 | y=2; a=x", "y", "02", "TPCH"},
    {"R+po+mfence", "x=1; y=1 | y=2; F.sc; a=x", "y", "02", "PCH"},
    {"2+2W [cats]", "x=1; y=2 | y=1; x=2", "xy", "11", "PCH"},
    {"2+2W+stbars [sparc]", "x=1; F.rel; y=2 | y=1; F.rel; x=2", "xy", "11", "CH"},
    {"2+2W, release stores", "x=1; y=2.rel | y=1; x=2.rel", "xy", "11", "CH"},
    {"3.2W [cats]", "x=1; y=2 | y=1; z=2 | z=1; x=2", "xyz", "111", "PCH"},
    /* three and four threads */
    {"WRC [cats], amd8, iwp2.5 [x86]", "x=1 | a=x; y=1 | b=y; c=x", "", "110", "CH"},
    {"RWC [cats]", "x=1 | a=x; b=y | y=1; c=x", "", "100", "TPCH"},
    {"RWC+mfence [cats]", "x=1 | a=x; b=y | y=1; F.sc; c=x", "", "100", "CH"},
    {"ISA2 [cats]", "x=1; y=1 | a=y; z=1 | b=z; c=x", "", "110", "PCH"},
    {"WWC [cats]", "x=2 | a=x; y=1 | b=y; x=1", "x", "212", "CH"},
    {"W+RWC [cats]", "x=1; y=1 | a=y; b=z | z=1; c=x", "", "100", "TPCH"},
    {"W+RWC+mfence", "x=1; y=1 | a=y; b=z | z=1; F.sc; c=x", "", "100", "PCH"},
    {"Z6.0 [cats]", "x=1; y=1 | a=y; z=1 | z=2; b=x", "z", "102", "TPCH"},
    {"Z6.3 [cats]", "x=1; y=1 | y=2; z=1 | a=z; b=x", "y", "102", "PCH"},
    {"IRIW [cats], amd6 [x86]", "x=1 | y=1 | a=x; b=y | c=y; d=x", "", "1010", "CH"},
    {"IRIW+mfences [cats], amd7, iwp2.7 [x86]", "x=1 | y=1 | a=x; F.sc; b=y | c=y; F.sc; d=x", "", "1010", "H"},
    {"what follows a release is not released", "y=1.rel; x=1; z=1 | a=y.acq; b=z; c=x", "", "110", "PCH"},
    {"what follows a release store overtakes", "x=1; y=1.rel; z=1 | a=z; b=x", "", "10", "PCH"},
    {"a release store overtakes nothing", "x=1; y=1; z=1.rel | a=z; b=y; c=x", "", "110", "CH"},
    {"what follows an unlock is not released", "lock; y=1; unlock; x=1; z=1 | lock; a=y; unlock; b=z; c=x", "", "110",
     "PCH"},
    {"a release sequence [cpp]", "x=1; y=1.rel | a=y+=1.rlx | b=y.acq; c=x", "", "120", ""},
    {"the same value again, unreleased", "lock; x=1; y=1; unlock; x=1 | lock; a=y; b=x; unlock", "", "10", ""},
    {"the same value by another, unreleased", "lock; x=1; y=1; unlock | x=1 | lock; a=y; b=x; unlock", "", "10", ""},
    /* coherence, which hb does not have */
    {"CoRR [cats], racy initialisation, Fig. 1 [adv]", "x=1 | a=x; b=x", "", "10", "H"},
    {"CoRR2, iwp2.6 [x86]", "x=1 | x=2 | a=x; b=x | c=x; d=x", "", "1221", "H"},
    {"CoWW [cats]", "x=1; x=2", "x", "1", ""},
    {"CoRW1 [cats]", "a=x; x=1", "", "1", ""},
    {"CoRW2 [cats]", "x=1 | a=x; x=2", "x", "11", "H"},
    {"CoWR [cats]", "x=1; a=x | x=2", "x", "21", "H"},
    {"CoWR0 [cats]", "x=1; a=x", "", "0", ""},
    {"n5 [x86]", "x=1; a=x | x=2; b=x", "", "21", "H"},
    {"n4b [x86]", "a=x; x=1 | b=x; x=2", "", "21", "M"},
    {"two updates", "a=x+=1 | b=x+=1", "x", "012", "STPCH"},
    {"two updates, one lost", "a=x+=1 | b=x+=1", "x", "001", ""},
    {"two counts, one lost", "a=x; x=a+1 | b=x; x=b+1", "x", "001", "STPCH"},
    {"two counts with locks, one lost", "lock; a=x; x=a+1; unlock | lock; b=x; x=b+1; unlock", "x", "001", ""},
    {"the lock of Fig. 7 [adv], read outside", "lock; x=1; x=2; unlock | a=x; lock; b=x; unlock", "", "12", "STPCH"},
    {"the lock of Fig. 7 [adv], read inside", "lock; x=1; x=2; unlock | a=x; lock; b=x; unlock", "", "21", ""},
};

enum { LITMUS_ROWS = sizeof litmus_rows / sizeof *litmus_rows };

#endif
