/* SPDX-License-Identifier: MIT */
/* The tables scripts/gen-syscalls.sh makes from the kernel's headers, and looking into them. */
#include "syscall_name.h"

#include <stddef.h>
#include <string.h>

#include "jis/abi.h"
#include "jis/events.h"
#include "syscall_names.h"

/* The names of one machine's calls: its own, and those of 32-bit programs. */
static const struct machine {
	const char *name;
	const char *const *native, *const *compat; /* compat: NULL, not known */
} machines[] = {
	{"x86_64", names_x86_64, names_i386},
	{"aarch64", names_aarch64, NULL},
};

const char *const *syscall_names(const char *machine, bool compat)
{
	for (size_t i = 0; machine && i < sizeof(machines) / sizeof(machines[0]); i++)
		if (!strcmp(machines[i].name, machine))
			return compat ? machines[i].compat : machines[i].native;
	return NULL;
}

const char *syscall_name(const char *machine, int32_t nr)
{
	uint32_t index = (uint32_t)nr & ~(uint32_t)JIS_SYSCALL_COMPAT;
	const char *const *names;

	if (nr < 0 || index >= JIS_MAX_SYSCALL)
		return NULL;
	names = syscall_names(machine, (uint32_t)nr & JIS_SYSCALL_COMPAT);
	return names ? names[index] : NULL;
}
