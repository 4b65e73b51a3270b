/* A shared library that counts without a lock. */
struct {
    int used;
    int hits[4];
} tally;

void count(int n)
{
    tally.hits[2] += n;
}
