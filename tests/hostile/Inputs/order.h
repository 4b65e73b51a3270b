/* An order of steps that the detector does not see: order.c is compiled without deadheat. */
#ifndef ORDER_H
#define ORDER_H
#ifdef __cplusplus
extern "C" {
#endif
void step_done(int n); /* step n is over */
void wait_step(int n); /* until it is */
#ifdef __cplusplus
}
#endif
#endif
