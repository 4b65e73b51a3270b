/* A campaign on a program, or, if it makes no thread itself, on each of its child processes that do. Layer: launch. */
#ifndef DH_LAUNCH_CHILDREN_CAMPAIGN_H
#define DH_LAUNCH_CHILDREN_CAMPAIGN_H

#include "prove/campaign.h"

/* As dh_campaign. Children share the time; a goal is proven if one of them shows it, and searched whole if it was in
 * all of them. Afterwards the subject follows the child that showed most. */
bool dh_children_campaign(struct dh_subject *s, const struct dh_campaign_options *o, struct dh_goal *goals, size_t n,
                          const struct dh_campaign_host *host, struct dh_campaign_result *out, struct dh_err *err);

#endif
