/* SPDX-License-Identifier: MIT */
/* X.row: the names of Paraver's objects. A thread is "NAME [TID]", a process "NAME [PID]". */
#include <errno.h>
#include <inttypes.h>

#include "prv_int.h"

void label_write(FILE *f, const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; c && *c; c++) {
		if (*c == '\n')
			fputs("\\n", f);
		else if (*c == '\t')
			fputs("\\t", f);
		else if (*c < 0x20 || *c == 0x7f)
			fprintf(f, "\\x%02x", *c);
		else if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) /* U+0080 to U+009F */
			fprintf(f, "\\u%04x", *++c);
		else
			fputc(*c, f);
	}
}

/* @index: as in prv.order. */
static void thread_name(const struct paraver *p, FILE *f, uint32_t index)
{
	const struct thread_entry *e;
	const struct model_vthread *v;

	if (index >= p->info->nr_threads) {
		v = &p->info->vthreads[index - p->info->nr_threads];
		label_write(f, model_name(p->model, v->name));
		fprintf(f, " [virtual %" PRIu64 "]", v->java_tid);
		return;
	}
	e = p->info->threads[index].entry;
	label_write(f, e->name && *e->name ? e->name : e->comm);
	fprintf(f, " [%" PRIu32 "]", e->tid);
}

void row_label(const struct paraver *p, uint32_t row, FILE *f)
{
	thread_name(p, f, p->order[p->rows[row].first]);
}

/* CPUs have one number in all of a trace; of several hosts they also have the name of theirs. */
static void write_cpus(const struct paraver *p, FILE *f)
{
	for (uint32_t i = 0; i < nodes_count(p); i++) {
		const struct prv_node node = node_of(p, i);

		for (uint32_t cpu = 0; cpu < node.nr_cpus; cpu++) {
			fprintf(f, "CPU %" PRIu32, node.first_cpu + cpu);
			if (nodes_count(p) > 1)
				fputc(' ', f);
			label_write(f, nodes_count(p) > 1 ? node.name : "");
			fputc('\n', f);
		}
	}
}

static void write_rows(const struct paraver *p, FILE *f)
{
	for (uint32_t i = 0; i < p->nr_rows; i++) {
		const struct prv_row *row = &p->rows[i];

		thread_name(p, f, p->order[row->first]);
		if (row->nr > 1)
			fprintf(f, " (and %" PRIu32 " later)", row->nr - 1);
		fputc('\n', f);
	}
	if (p->nr_cpu_rows)
		write_cpus(p, f);
}

/* Rows that several threads share, one after the other: said as comments, which Paraver skips. */
static void write_shared(const struct paraver *p, FILE *f)
{
	if (!p->stats.shared)
		return;
	fprintf(f, "# There are more threads than Paraver has rows; these rows are shared.\n");
	for (uint32_t i = 0; i < p->nr_rows; i++) {
		const struct prv_row *row = &p->rows[i];

		for (uint32_t k = 0; row->nr > 1 && k < row->nr; k++) {
			uint32_t index = p->order[row->first + k];
			const struct prv_life t = life_of(p, index);

			fprintf(f, "# row %.*s from %" PRIu64 " ns: ", row->prefix_len - 1,
				row->prefix,
				t.birth > p->info->begin ? t.birth - p->info->begin : 0);
			thread_name(p, f, index);
			fputc('\n', f);
		}
	}
	fputc('\n', f);
}

int row_write(const struct paraver *p, FILE *f)
{
	const uint32_t nodes = nodes_count(p);

	fprintf(f, "LEVEL CPU SIZE %" PRIu32 "\n", p->info->nr_cpus);
	write_cpus(p, f);
	fprintf(f, "\nLEVEL NODE SIZE %" PRIu32 "\n", nodes);
	for (uint32_t i = 0; i < nodes; i++) {
		label_write(f, node_of(p, i).name);
		fputc('\n', f);
	}
	fprintf(f, "\nLEVEL THREAD SIZE %" PRIu32 "\n", p->nr_rows + p->nr_cpu_rows);
	write_rows(p, f);
	fputc('\n', f);
	write_shared(p, f);
	fprintf(f, "LEVEL TASK SIZE %" PRIu32 "\n", p->nr_tasks + (p->nr_cpu_rows ? nodes : 0));
	for (uint32_t i = 0; i < p->nr_tasks; i++) {
		const struct process_entry *e = &p->info->processes[p->tasks[i].process];
		const char *name = process_entry_name(e);

		label_write(f, name && *name ? name : "process");
		fprintf(f, " [%" PRIu32 "]\n", e->pid);
	}
	for (uint32_t i = 0; p->nr_cpu_rows && i < nodes; i++) {
		fputs(nodes > 1 ? "CPUs of " : "CPUs", f);
		label_write(f, nodes > 1 ? node_of(p, i).name : "");
		fputc('\n', f);
	}
	fprintf(f, "\nLEVEL APPL SIZE %d\ntraced processes\n", p->nr_cpu_rows ? 2 : 1);
	if (p->nr_cpu_rows)
		fputs("CPUs\n", f);
	return ferror(f) ? -EIO : 0;
}
