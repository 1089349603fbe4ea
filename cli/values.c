/* SPDX-License-Identifier: MIT */
#include "values.h"

#include <stdio.h>

#include "jis/events.h"

void values_text(const struct model *m, const struct model_value *values, uint32_t nr, char *text,
		 size_t room)
{
	size_t used = 0;

	*text = 0;
	for (uint32_t i = 0; i < nr && used < room; i++) {
		char name[16] = "this";

		if (values[i].argument != JIS_VALUE_RECEIVER)
			snprintf(name, sizeof(name), "%d", values[i].argument);
		used += (size_t)snprintf(text + used, room - used, "%s%s = %s", i ? ", " : "", name,
					 model_name(m, values[i].text));
	}
}
