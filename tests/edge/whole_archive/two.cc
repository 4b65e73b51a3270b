struct List {
    const char *names[8];
    int n;
};
List &list();
struct Part {
    explicit Part(const char *s)
    {
        list().names[list().n++] = s;
    }
};
static Part own("two");
