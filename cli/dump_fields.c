/* SPDX-License-Identifier: MIT */
/*
 * Fields of `jis dump` that mean more than their number: system calls by name, results as names of
 * errors, operations of a futex, addresses of sockets.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "cli.h"
#include "dump_fields.h"
#include "jis/events.h"
#include "libjisctl/syscalls.h"

static bool print_call(const char *machine, int32_t nr)
{
	const char *name;

	if (nr == JIS_SYSCALL_NONE || nr == JIS_SYSCALL_UNKNOWN) {
		fputs(nr == JIS_SYSCALL_NONE ? "none" : "unknown", stdout);
		return true;
	}
	name = syscall_name(machine, nr);
	if (!name)
		return false;
	printf("%s%s", name, nr & JIS_SYSCALL_COMPAT ? " (32-bit)" : "");
	return true;
}

/* What the kernel's own calls return on their way to a signal's handler: include/linux/errno.h. */
static const char *restart_name(int64_t result)
{
	switch (-result) {
	case 512:
		return "ERESTARTSYS";
	case 513:
		return "ERESTARTNOINTR";
	case 514:
		return "ERESTARTNOHAND";
	case 516:
		return "ERESTART_RESTARTBLOCK";
	}
	return NULL;
}

static bool print_result(int64_t result)
{
	const char *name;

	if (result >= 0 || result < -4095)
		return false;
	name = restart_name(result);
	if (!name)
		name = strerrorname_np((int)-result);
	if (name)
		printf("-%s", name);
	return name;
}

static bool print_futex_op(uint32_t op)
{
	static const char *const names[] = {
		"WAIT",		  "WAKE",	 "FD",		"REQUEUE",
		"CMP_REQUEUE",	  "WAKE_OP",	 "LOCK_PI",	"UNLOCK_PI",
		"TRYLOCK_PI",	  "WAIT_BITSET", "WAKE_BITSET", "WAIT_REQUEUE_PI",
		"CMP_REQUEUE_PI", "LOCK_PI2",
	};
	uint32_t command = op & (uint32_t)FUTEX_CMD_MASK;

	if (command >= sizeof(names) / sizeof(names[0]))
		return false;
	printf("%s%s%s", names[command], op & FUTEX_PRIVATE_FLAG ? "|PRIVATE" : "",
	       op & FUTEX_CLOCK_REALTIME ? "|REALTIME" : "");
	return true;
}

/* The flags of futex_wait and futex_wake, whose names say the operation. */
static bool print_futex2_flags(uint32_t flags)
{
	static const char *const sizes[] = {"U8", "U16", "U32", "U64"};
	const uint32_t numa = 4; /* FUTEX2_NUMA */

	if (flags & ~(3 | numa | FUTEX_PRIVATE_FLAG))
		return false;
	printf("%s%s%s", sizes[flags & 3], flags & numa ? "|NUMA" : "",
	       flags & FUTEX_PRIVATE_FLAG ? "|PRIVATE" : "");
	return true;
}

static bool print_futex(const char *machine, int32_t nr, uint32_t op)
{
	const char *name = syscall_name(machine, nr);

	if (name && (!strcmp(name, "futex_wait") || !strcmp(name, "futex_wake")))
		return print_futex2_flags(op);
	return print_futex_op(op);
}

static bool print_name(const char *const *names, uint32_t n, uint32_t value)
{
	if (value >= n || !names[value])
		return false;
	fputs(names[value], stdout);
	return true;
}

static bool print_family(uint32_t family)
{
	static const char *const names[] = {
		[AF_UNIX] = "AF_UNIX",	     [AF_INET] = "AF_INET",	[AF_INET6] = "AF_INET6",
		[AF_NETLINK] = "AF_NETLINK", [AF_PACKET] = "AF_PACKET", [AF_VSOCK] = "AF_VSOCK",
	};

	return print_name(names, sizeof(names) / sizeof(names[0]), family);
}

static bool print_fd_type(uint32_t type)
{
	static const char *const names[] = {
		"unknown",   "file",	"directory", "character device", "block device", "pipe",
		"socket",    "eventfd", "epoll",     "timerfd",		 "signalfd",	 "inotify",
		"anonymous",
	};

	return print_name(names, sizeof(names) / sizeof(names[0]), type);
}

static bool print_socket_type(uint32_t type)
{
	static const char *const names[] = {
		[SOCK_STREAM] = "SOCK_STREAM",
		[SOCK_DGRAM] = "SOCK_DGRAM",
		[SOCK_RAW] = "SOCK_RAW",
	};

	return print_name(names, sizeof(names) / sizeof(names[0]), type);
}

static bool print_address(uint32_t family, const uint8_t *address)
{
	char text[INET6_ADDRSTRLEN];

	if ((family != AF_INET && family != AF_INET6) ||
	    !inet_ntop((int)family, address, text, sizeof(text)))
		return false;
	fputs(text, stdout);
	return true;
}

/* Values of which a second field has the other half are shown with the first. */
static const uint8_t *field_of(const struct event_info *info, const uint8_t *payload,
			       const char *name)
{
	for (uint32_t i = 0; i < info->nr_fields; i++)
		if (!strcmp(info->fields[i].name, name))
			return payload + info->fields[i].offset;
	return NULL;
}

static bool is_address(const char *name)
{
	return !strcmp(name, "address0") || !strcmp(name, "local0") || !strcmp(name, "peer0");
}

static uint32_t family_of(const struct event_info *info, const uint8_t *payload)
{
	const uint8_t *p = field_of(info, payload, "family");

	return p ? field_u32(p) : AF_UNSPEC;
}

bool dump_field_hidden(const struct event_info *info, const struct field_info *f,
		       const uint8_t *payload)
{
	uint32_t family;

	if (strcmp(f->name, "address1") && strcmp(f->name, "local1") && strcmp(f->name, "peer1"))
		return false;
	family = family_of(info, payload);
	return family == AF_INET || family == AF_INET6;
}

static bool print_value_kind(uint32_t kind)
{
	static const char *const names[] = {
		[JIS_VALUE_BOOLEAN] = "BOOLEAN", [JIS_VALUE_BYTE] = "BYTE",
		[JIS_VALUE_CHAR] = "CHAR",	 [JIS_VALUE_SHORT] = "SHORT",
		[JIS_VALUE_INT] = "INT",	 [JIS_VALUE_LONG] = "LONG",
		[JIS_VALUE_FLOAT] = "FLOAT",	 [JIS_VALUE_DOUBLE] = "DOUBLE",
		[JIS_VALUE_NULL] = "NULL",	 [JIS_VALUE_OBJECT] = "OBJECT",
		[JIS_VALUE_ARRAY] = "ARRAY",	 [JIS_VALUE_STRING] = "STRING",
	};

	return print_name(names, sizeof(names) / sizeof(names[0]), kind);
}

bool dump_field_print(const char *machine, const struct event_info *info,
		      const struct field_info *f, const uint8_t *payload)
{
	const uint8_t *p = payload + f->offset;

	if (!strcmp(f->name, "nr") || !strcmp(f->name, "prev_syscall"))
		return print_call(machine, (int32_t)field_u32(p));
	if (!strcmp(f->name, "result"))
		return f->type == FIELD_S64 && print_result((int64_t)field_u64(p));
	if (!strcmp(f->name, "family"))
		return print_family(field_u32(p));
	if (!strcmp(info->name, "method_value") && !strcmp(f->name, "kind"))
		return print_value_kind(field_u32(p));
	if (is_address(f->name))
		return print_address(family_of(info, payload), p);
	if (!strcmp(info->name, "syscall_futex") && !strcmp(f->name, "op"))
		return print_futex(machine, (int32_t)field_u32(field_of(info, payload, "nr")),
				   field_u32(p));
	if (!strcmp(info->name, "fd_file") && !strcmp(f->name, "type"))
		return print_fd_type(field_u32(p));
	if (!strcmp(info->name, "fd_socket") && !strcmp(f->name, "type"))
		return print_socket_type(field_u32(p));
	return false;
}
