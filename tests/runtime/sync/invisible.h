/* Order that no detector sees: this part is compiled without one. Steps are numbered from 1 and said once. */
#ifndef INVISIBLE_H
#define INVISIBLE_H

#ifdef __cplusplus
extern "C" {
#endif

void invisible_say(int step);
void invisible_await(int step);
int invisible_said(int step);

#ifdef __cplusplus
}
#endif

#endif
