/* SPDX-License-Identifier: MIT */
/* The tables of hosts of `jis info`. */
#include "info_hosts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli.h"

static const char *name_of(const struct host_entry *h)
{
	return h->name && *h->name ? h->name : "?";
}

void info_hosts_names(FILE *out, const struct manifest *m)
{
	for (uint32_t i = 0; i < m->nr_hosts; i++) {
		fputs(i ? ", " : "", out);
		cli_print_escaped(out, name_of(&m->hosts[i]));
	}
}

static void column(FILE *out, const char *text, int width)
{
	char *escaped = cli_escaped(text);

	fprintf(out, "%-*s", width, escaped ? escaped : "?");
	free(escaped);
}

static double seconds(const struct manifest *m, uint64_t ticks)
{
	return ticks < m->begin ? 0 : (double)(ticks - m->begin) / (double)m->frequency;
}

static void recorded(FILE *out, const struct manifest *m, uint32_t host)
{
	const struct host_entry *h = &m->hosts[host];
	char cpus[32];

	snprintf(cpus, sizeof(cpus), h->nr_cpus > 1 ? "%u-%u" : "%u", h->first_cpu,
		 h->first_cpu + h->nr_cpus - 1);
	fprintf(out, "%-4u ", host);
	column(out, name_of(h), 20);
	fprintf(out, " %-9s %11.3f %11.3f  ", h->nr_cpus ? cpus : "-", seconds(m, h->begin),
		seconds(m, h->end));
	column(out, h->session ? h->session : "?", 0);
	fputc('\n', out);
}

/* "2.1 us", or "2.1 us to 14.0 us" */
static void print_errors(FILE *out, const struct manifest *m, uint32_t host)
{
	uint64_t least = UINT64_MAX, most = 0;
	char text[2][32];

	for (uint32_t i = 0; i < m->nr_host_errors; i++) {
		const struct host_error_entry *e = &m->host_errors[i];

		if (e->host != host || e->other != m->hosts[host].parent)
			continue;
		least = e->error < least ? e->error : least;
		most = e->error > most ? e->error : most;
	}
	if (m->hosts[host].clock <= HOST_CLOCK_SAME)
		fputs("0 ns", out);
	else if (m->hosts[host].clock != HOST_CLOCK_CALLS || least == UINT64_MAX)
		fputs("not known", out);
	else if (least == most)
		fputs(cli_format_ns(text[0], sizeof(text[0]), least), out);
	else
		fprintf(out, "%s to %s", cli_format_ns(text[0], sizeof(text[0]), least),
			cli_format_ns(text[1], sizeof(text[1]), most));
}

static void aligned(FILE *out, const struct manifest *m, uint32_t host)
{
	const struct host_entry *h = &m->hosts[host];
	uint64_t size = h->offset < 0 ? 0 - (uint64_t)h->offset : (uint64_t)h->offset;
	char ns[32], offset[40];

	snprintf(offset, sizeof(offset), "%s%s",
		 h->offset < 0 ? "-"
		 : h->offset   ? "+"
			       : "",
		 cli_format_ns(ns, sizeof(ns), size));
	fprintf(out, "%-4u %-11s ", host, host_clock_name(h->clock));
	if (h->clock == HOST_CLOCK_REFERENCE) {
		fputs("-\n", out);
		return;
	}
	column(out, name_of(&m->hosts[h->parent]), 20);
	fprintf(out, " %9" PRIu64 " %14s %+10.3f %6" PRIu64 "  ", h->calls, offset,
		(double)h->drift / 1e3, h->steps);
	print_errors(out, m, host);
	fputc('\n', out);
}

void info_hosts_print(FILE *out, const struct manifest *m)
{
	if (!m->nr_hosts)
		return;
	fprintf(out, "\n%-4s %-20s %-9s %11s %11s  %s\n", "host", "name", "CPUs", "from [s]",
		"to [s]", "session");
	for (uint32_t i = 0; i < m->nr_hosts; i++)
		recorded(out, m, i);
	fprintf(out, "\n%-4s %-11s %-20s %9s %14s %10s %6s  %s\n", "host", "clock by", "with",
		"calls", "ahead by", "gains ppm", "steps", "times may be off by +-");
	for (uint32_t i = 0; i < m->nr_hosts; i++)
		aligned(out, m, i);
}
