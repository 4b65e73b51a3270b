/* A library calls the program back from a thread of its own; the program's function and main write one variable.
 * Expected: race on `told` at `is told` and `forgets`. */
#ifdef LIBRARY_1
#include <pthread.h>
static void (*listener)(int);
static pthread_t teller;
static void *tell(void *arg)
{
    listener(1);
    return arg;
}
void listen_to(void (*f)(int));
void stop_listening(void);
void listen_to(void (*f)(int))
{
    listener = f;
    pthread_create(&teller, NULL, tell, NULL);
}
void stop_listening(void)
{
    pthread_join(teller, NULL);
}
#else
void listen_to(void (*f)(int));
void stop_listening(void);
static int told;
static void note(int n)
{
    told = n; /* is told */
}
int main(void)
{
    listen_to(note);
#ifdef FIXED
    stop_listening();
#endif
    told = 0; /* forgets */
#ifndef FIXED
    stop_listening();
#endif
    return told > 1;
}
#endif
