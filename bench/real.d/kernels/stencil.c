/* Two threads relax a grid, half each, with a barrier between the sweeps. Argument: how much work. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 512, THREADS = 2 };

static double grid[2][SIDE][SIDE];
static pthread_barrier_t sweep_done;
static int sweeps;

static void sweep(int from, int first, int last)
{
    for (int y = first; y < last; y++)
        for (int x = 1; x < SIDE - 1; x++)
            grid[!from][y][x] = 0.2 * (grid[from][y][x] + grid[from][y - 1][x] + grid[from][y + 1][x] +
                                       grid[from][y][x - 1] + grid[from][y][x + 1]);
}

static void *relax(void *part)
{
    int rows = (SIDE - 2) / THREADS, first = 1 + (int)(long)part * rows;
    for (int i = 0; i < sweeps; i++) {
        sweep(i & 1, first, first + rows);
        pthread_barrier_wait(&sweep_done);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 2 || argv[1][0] == '-')
        return 0;
    sweeps = 300 * atoi(argv[1]);
    for (int i = 0; i < SIDE; i++)
        grid[0][0][i] = grid[1][0][i] = 100.0;
    pthread_barrier_init(&sweep_done, NULL, THREADS);
    pthread_t worker[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&worker[i], NULL, relax, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(worker[i], NULL);
    double sum = 0;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            sum += grid[sweeps & 1][y][x] * (x + y);
    printf("%.9f\n", sum);
    return 0;
}
