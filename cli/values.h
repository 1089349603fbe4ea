/* SPDX-License-Identifier: MIT */
/* Values of calls as text. */
#ifndef JIS_CLI_VALUES_H
#define JIS_CLI_VALUES_H

#include <stddef.h>

#include "merger/model.h"

#define VALUES_ROOM 8192

/* "this = com.acme.Cart@1f, 0 = 17, 1 = "tea"": cut where there is no more room. */
void values_text(const struct model *m, const struct model_value *values, uint32_t nr, char *text,
		 size_t room);

#endif /* JIS_CLI_VALUES_H */
