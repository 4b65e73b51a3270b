/* Races that are meant, accesses that are not looked at, memory that changes its owner. */
#include "case.h"

#include <deadheat/annotate.h>
#include <deadheat/annotate_abi.h>

static void write_it(void)
{
    shared++;
}

static void intend(void)
{
    if (!broken)
        DEADHEAT_INTENDED_RACE(&shared, sizeof shared, "a count that may be wrong");
}
static void intend_sized(void)
{
    if (!broken)
        AnnotateBenignRaceSized(__FILE__, __LINE__, &shared, sizeof shared, "a count that may be wrong");
}
static void intend_unsized(void)
{
    if (!broken)
        AnnotateBenignRace(__FILE__, __LINE__, &shared, "a count that may be wrong");
}

/* The part beside it is not meant. */
static struct {
    int hits, misses;
} counts;
static void intend_part(void)
{
    AnnotateBenignRaceSized(__FILE__, __LINE__, &counts.hits, sizeof counts.hits, "statistics");
}
static void count(void)
{
    if (broken)
        counts.misses++;
    else
        counts.hits++;
}

/* What was said of a block ends with the block. */
static int *block;
static void intend_block(void)
{
    block = malloc(sizeof *block);
    AnnotateBenignRaceSized(__FILE__, __LINE__, block, sizeof *block, "statistics");
    if (broken) {
        int *old = block;
        free(block);
        block = malloc(sizeof *block);
        if (block != old)
            AnnotateNewMemory(__FILE__, __LINE__, block, sizeof *block);
    }
}
static void write_block(void)
{
    ++*block;
}

static void write_unseen(void)
{
    if (!broken)
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    shared = 1;
    if (!broken)
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
}
static void read_unseen(void)
{
    if (!broken)
        AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    if (shared > 1000)
        abort();
    if (!broken)
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}
static void write_seen(void)
{
    shared = 2;
}
/* Ignored reads say nothing about writes. */
static void write_among_reads(void)
{
    if (broken)
        AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    else
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    shared = 1;
    if (broken)
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    else
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
}
static void end_without_begin(void)
{
    if (!broken)
        AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

struct job {
    int input, output;
};
static struct job *job;
static void make_job(void)
{
    job = malloc(sizeof *job);
}
static void give(void)
{
    job->input = 1;
    DEADHEAT_TRANSFER(job, sizeof *job);
    if (broken)
        job->input = 2;
}
static void accept(void)
{
    DEADHEAT_ACCEPT(job, sizeof *job);
    job->output = job->input + 1;
    free(job);
}
static void give_well(void)
{
    job->input = 1;
    DEADHEAT_TRANSFER(job, sizeof *job);
}
static void take_without_accepting(void)
{
    if (!broken)
        DEADHEAT_ACCEPT(job, sizeof *job);
    job->output = job->input + 1;
}

static const struct test all[] = {
    {"intended", RACE, intend, write_it, write_it},
    {"benign_sized", RACE, intend_sized, write_it, write_it},
    {"benign", RACE, intend_unsized, write_it, write_it},
    {"intended_part", "data race on counts.misses", intend_part, count, count},
    {"intended_block", "data race on ", intend_block, write_block, write_block},
    {"ignore_writes", RACE, nothing, write_unseen, write_seen},
    {"ignore_reads", RACE, nothing, read_unseen, write_seen},
    {"ignore_only", RACE, nothing, write_among_reads, write_seen},
    {"ignore_end", "AnnotateIgnoreReadsEnd without a Begin", nothing, end_without_begin, nothing},
    {"transfer", "given away .DEADHEAT_TRANSFER. and nobody has accepted it", make_job, give, accept},
    {"transfer_taken", "given away .DEADHEAT_TRANSFER. and nobody has accepted it", make_job, give_well,
     take_without_accepting},
};
CASES(all)
