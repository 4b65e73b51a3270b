/* A library that counts, with the two halves of an update apart. */
static long entries;
long ledger_add(void);

long ledger_add(void)
{
    long before = entries;
    entries = before + 1;
    return before;
}
