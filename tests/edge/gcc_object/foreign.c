struct big {
    long v[5];
};
extern int shared;
extern __thread int per_thread;
int only_foreign_calls_this(int);
int foreign_data[3] = {7, 8, 9};
struct big foreign(struct big b, int (*callback)(int))
{
    shared += 10;
    per_thread++;
    b.v[0] = callback(5);
    b.v[4] = only_foreign_calls_this(2);
    return b;
}
