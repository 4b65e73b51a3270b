static int state[2];
int plugin_step(int x)
{
    state[0] += x;
    return state[0]++;
}
