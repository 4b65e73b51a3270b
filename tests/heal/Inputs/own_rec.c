/* A recursive walk adds to one total at every level; another thread resets and collects it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct node {
    struct node *left, *right;
    long weight;
};
static long total, nodes;
static struct node *make(int depth)
{
    struct node *n = calloc(1, sizeof *n);
    n->weight = depth;
    if (depth > 1) {
        n->left = make(depth - 1);
        n->right = make(depth - 1);
    }
    return n;
}
static void walk(const struct node *n)
{
    if (!n)
        return;
    total += n->weight;
    walk(n->left);
    walk(n->right);
    nodes++;
}
static void *run(void *tree)
{
    for (int i = 0; i < 5; i++)
        walk(tree);
    return NULL;
}
int main(int argc, char **argv)
{
    int depth = argc > 1 ? atoi(argv[1]) : 4;
    struct node *tree = make(depth);
    walk(tree);
    long weight = total, count = nodes;
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, run, tree);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    int ok = total == 11 * weight && nodes == 11 * count;
    printf(ok ? "ok\n" : "FAILED: %ld of %ld, %ld of %ld\n", total, 11 * weight, nodes, 11 * count);
    return !ok;
}
