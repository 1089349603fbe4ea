/* SPDX-License-Identifier: MIT */
/* What `jis why` found out, for those that print it. */
#ifndef JIS_CLI_WHY_H
#define JIS_CLI_WHY_H

#include <stdio.h>

#include "analysis/path_rows.h"
#include "analysis/spans.h"

/* An interval of a thread: an instance of a span, or what was asked for. */
struct why_interval {
	uint64_t begin, end; /* ns */
	struct path_who who;
	const char *name; /* of the span or marker, NULL: none */
	bool marker;
};

/* One in detail. */
struct why_detail {
	struct why_interval interval;
	const char *which; /* "slowest", "median", "" */
	struct path_rows *rows;
	struct path_step *steps;
	uint32_t nr_steps, room;
	bool cut; /* there were more steps */
};

struct why {
	const struct model *model;
	const struct model_info *info;
	const struct lanes *lanes;
	const struct spans *spans; /* NULL: an interval of a thread was asked for */
	const char *span;	   /* asked for, or NULL */
	/* Instances of the spans asked for, shortest first. */
	struct why_interval *intervals;
	uint32_t nr_intervals;
	uint64_t left_out;	/* instances that could not be looked at */
	struct path_rows *rows; /* of all of them, or NULL */
	struct why_detail *details;
	uint32_t nr_details;
	uint32_t limit; /* lines of a table and of a path, 0: all */
};

/* What a step or row was in, and how that ended; @by: whom it names, or NULL. Returns @text. */
struct why_what {
	uint32_t why;
	uint8_t state, ended, flags;
	struct hop_call call;
	const char *by;
};
#define WHY_TEXT_SIZE 512
bool why_is_wait(uint8_t state); /* enum model_state_kind */
const char *why_what_text(const struct why *w, const struct why_what *what, char *text, size_t n);
struct why_what why_of_row(const struct path_rows *rows, const struct path_row *row);
const char *why_row_text(const struct why *w, const struct path_rows *rows,
			 const struct path_row *row, char *text, size_t n);
/* @home: process whose threads are named without it. */
const char *why_step_text(const struct why *w, const struct path_step *s, uint32_t home, char *text,
			  size_t n);

/* The answer in one sentence. */
void why_answer(const struct why *w, const struct path_rows *rows, FILE *out);

/* Whose interval it is: "span \"checkout\" of exec-1 [12]". */
void why_title(const struct why *w, const struct why_interval *i, FILE *out);

/* Both return 0 or -errno. */
int why_print_text(const struct why *w);
int why_print_json(const struct why *w);

#endif /* JIS_CLI_WHY_H */
