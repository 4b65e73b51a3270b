/* A message of the system's own queue, which nobody can take back, says that the box is filled; the reader waits in the
 * kernel while the writer goes on. The writer fills the box only after it sent the message. Expected: race on box. */
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/msg.h>

struct message {
    long type;
    char text[8];
};

static int queue, box, seen;

static void *reader(void *unused)
{
    struct message m;
    (void)unused;
    if (msgrcv(queue, &m, sizeof m.text, 0, 0) >= 0)
        seen = box;
    return NULL;
}

int main(void)
{
    struct message m = {1, "filled"};
    pthread_t thread;
    queue = msgget(IPC_PRIVATE, 0600);
    pthread_create(&thread, NULL, reader, NULL);
#ifdef FIXED
    box = 7;
    msgsnd(queue, &m, sizeof m.text, 0);
#else
    msgsnd(queue, &m, sizeof m.text, 0);
    box = 7;
#endif
    pthread_join(thread, NULL);
    msgctl(queue, IPC_RMID, NULL);
    return 0;
}
