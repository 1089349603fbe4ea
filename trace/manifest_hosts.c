/* SPDX-License-Identifier: MIT */
/* Whose a number is in a trace of several hosts, and how exactly their clocks are known. */
#include "manifest.h"

uint32_t manifest_host_of_tid(const struct manifest *m, uint32_t tid)
{
	uint32_t host = tid / MANIFEST_HOST_STRIDE;

	return host < m->nr_hosts ? host : 0;
}

uint32_t manifest_host_of_cpu(const struct manifest *m, uint32_t cpu)
{
	for (uint32_t i = 0; i < m->nr_hosts; i++)
		if (cpu - m->hosts[i].first_cpu < m->hosts[i].nr_cpus)
			return i;
	return 0;
}

/* The first entry of @host that is of @other or one behind it, or how many there are. */
static uint32_t errors_from(const struct manifest *m, uint32_t host, uint32_t other)
{
	uint32_t low = 0, high = m->nr_host_errors;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct host_error_entry *e = &m->host_errors[middle];

		if (e->host < host || (e->host == host && e->other < other))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The entries of @host and @other: from *first on so many. */
static uint32_t errors_of(const struct manifest *m, uint32_t host, uint32_t other, uint32_t *first)
{
	*first = errors_from(m, host, other);
	return errors_from(m, host, other + 1) - *first;
}

/* By the calls between the two, or UINT64_MAX. */
static uint64_t error_of_calls(const struct manifest *m, uint32_t host, uint32_t other,
			       uint64_t ticks)
{
	const struct host_error_entry *e;
	uint32_t first, n = errors_of(m, host, other, &first), i = 0;
	double share, error;

	if (!n)
		return UINT64_MAX;
	e = &m->host_errors[first];
	while (i + 1 < n && e[i + 1].ticks <= ticks)
		i++;
	if (i + 1 == n || ticks <= e[i].ticks || e[i + 1].ticks == e[i].ticks ||
	    e[i].error == UINT64_MAX || e[i + 1].error == UINT64_MAX)
		return e[i].error;
	share = (double)(ticks - e[i].ticks) / (double)(e[i + 1].ticks - e[i].ticks);
	error = (double)e[i].error * (1 - share) + (double)e[i + 1].error * share + 0.5;
	return error < 1e18 ? (uint64_t)error : UINT64_MAX;
}

/* Of @host in relation to its parent. */
static uint64_t error_at(const struct manifest *m, uint32_t host, uint64_t ticks)
{
	if (m->hosts[host].clock <= HOST_CLOCK_SAME)
		return 0;
	return m->hosts[host].clock == HOST_CLOCK_CALLS
		       ? error_of_calls(m, host, m->hosts[host].parent, ticks)
		       : UINT64_MAX;
}

/* How many parents @host has; a file may have them in a circle. */
static uint32_t depth_of(const struct manifest *m, uint32_t host)
{
	uint32_t n = 0;

	while (n <= m->nr_hosts && m->hosts[host].parent != host) {
		host = m->hosts[host].parent;
		n++;
	}
	return n;
}

/* Up from the deeper one until they meet. */
static uint64_t error_of_way(const struct manifest *m, uint32_t a, uint32_t b, uint64_t ticks)
{
	uint32_t depth[2] = {depth_of(m, a), depth_of(m, b)};
	uint64_t sum = 0;

	if (depth[0] > m->nr_hosts || depth[1] > m->nr_hosts)
		return UINT64_MAX;
	while (a != b) {
		uint32_t *deeper = depth[0] >= depth[1] ? &a : &b;
		uint64_t error = error_at(m, *deeper, ticks);

		if (!depth[deeper == &b] || error == UINT64_MAX || sum > UINT64_MAX - 1 - error)
			return UINT64_MAX;
		sum += error;
		depth[deeper == &b]--;
		*deeper = m->hosts[*deeper].parent;
	}
	return sum;
}

/* Up from @host what is known by calls, or is the same clock. */
static uint32_t root_of(const struct manifest *m, uint32_t host)
{
	for (uint32_t n = 0; n < m->nr_hosts && (m->hosts[host].clock == HOST_CLOCK_SAME ||
						 m->hosts[host].clock == HOST_CLOCK_CALLS);
	     n++)
		host = m->hosts[host].parent;
	return host;
}

uint64_t manifest_host_error(const struct manifest *m, uint32_t a, uint32_t b, uint64_t ticks)
{
	uint64_t calls, way;

	if (a >= m->nr_hosts || b >= m->nr_hosts || a == b)
		return 0;
	/* One of them has its time of day, or what they hang on. */
	if (root_of(m, a) != root_of(m, b))
		return UINT64_MAX;
	calls = error_of_calls(m, a, b, ticks);
	if (calls == UINT64_MAX)
		calls = error_of_calls(m, b, a, ticks);
	way = error_of_way(m, a, b, ticks);
	return calls < way ? calls : way;
}

const char *host_clock_name(uint32_t clock)
{
	static const char *const names[HOST_NR_CLOCKS] = {"reference", "same clock", "calls",
							  "time of day"};

	return clock < HOST_NR_CLOCKS ? names[clock] : "?";
}
