/* The line that shows how far a search is; without a terminal, one every ten seconds. Layer: cmd. Zero-initialise. */
#ifndef DH_CMD_CAMPAIGN_PROGRESS_H
#define DH_CMD_CAMPAIGN_PROGRESS_H

#include "prove/campaign.h"

struct dh_campaign_line {
    bool is_shown;
    uint64_t next_ns; /* when it is written again, of the search's time */
};

void dh_campaign_progress(struct dh_campaign_line *l, const struct dh_campaign_state *s);
void dh_campaign_progress_clear(struct dh_campaign_line *l);

#endif
