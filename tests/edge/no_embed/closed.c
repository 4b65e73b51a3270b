int open_function(int);
extern int open_data;
static int secret = 5;
int closed(int x)
{
    open_data += secret++;
    return open_function(x);
}
