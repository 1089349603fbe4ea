/* SPDX-License-Identifier: MIT */
/*
 * CTF 1.8 metadata (TSDL) of a trace, made from the event table.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event_info.h"
#include "write.h"

static const char prologue[] =
	"/* CTF 1.8 */\n\n"
	"typealias integer { size = 5;  align = 1;  signed = false; } := uint5_t;\n"
	"typealias integer { size = 8;  align = 8;  signed = false; } := uint8_t;\n"
	"typealias integer { size = 8;  align = 8;  signed = false; encoding = UTF8; } := "
	"char8_t;\n"
	"typealias integer { size = 32; align = 32; signed = false; } := u32_t;\n"
	"typealias integer { size = 32; align = 32; signed = true;  } := s32_t;\n"
	"typealias integer { size = 32; align = 32; signed = false; base = hex; } := x32_t;\n"
	"typealias integer { size = 64; align = 32; signed = false; } := u64_t;\n"
	"typealias integer { size = 64; align = 32; signed = true;  } := s64_t;\n"
	"typealias integer { size = 64; align = 32; signed = false; base = hex; } := x64_t;\n\n";

static void print_uuid(FILE *f, const uint8_t *u)
{
	for (int i = 0; i < 16; i++)
		fprintf(f, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", u[i]);
}

/* A TSDL string literal. */
static void print_quoted(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', f);
		fputc((unsigned char)*text < 0x20 ? ' ' : *text, f);
	}
	fputc('"', f);
}

static void print_trace(FILE *f, const struct metadata_params *p)
{
	fputs("trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"", f);
	print_uuid(f, p->uuid);
	fputs("\";\n\tbyte_order = le;\n\tpacket.header := struct {\n\t\tu32_t magic;\n"
	      "\t\tuint8_t uuid[16];\n\t\tu32_t stream_id;\n\t\tu64_t "
	      "stream_instance_id;\n\t};\n};\n\n",
	      f);
	fputs("env {\n\thostname = ", f);
	print_quoted(f, p->hostname ? p->hostname : "");
	fprintf(f, ";\n\tdomain = \"%s\";\n\ttracer_name = \"jis\";\n\ttracer_major = %d;\n",
		p->kernel ? "kernel" : "ust", JIS_SCHEMA_VERSION);
	fprintf(f, "\ttracer_minor = 0;\n");
	if (p->process) {
		fputs("\tprocname = ", f);
		print_quoted(f, p->process);
		fprintf(f, ";\n\tvpid = %u;\n", p->pid);
	}
	fputs("};\n\n", f);
}

static void print_clock(FILE *f, const struct metadata_params *p)
{
	fputs("clock {\n\tname = \"jis\";\n\tuuid = \"", f);
	print_uuid(f, p->clock_uuid);
	fprintf(f,
		"\";\n\tdescription = \"%s\";\n\tfreq = %" PRIu64 ";\n\toffset_s = %" PRId64
		";\n\toffset = %" PRIu64 ";\n\tabsolute = false;\n};\n\n",
		p->clock == JIS_CLOCK_TSC ? "time stamp counter, rebased"
					  : "CLOCK_MONOTONIC_RAW, rebased",
		p->frequency, p->offset_s, p->offset);
	fputs("typealias integer { size = 27; align = 1;  signed = false; map = clock.jis.value; } "
	      ":= "
	      "uint27_clock_t;\n"
	      "typealias integer { size = 64; align = 32; signed = false; map = clock.jis.value; } "
	      ":= "
	      "u64_clock_t;\n\n"
	      "struct event_header {\n\tenum : uint5_t { compact = 0 ... 30, extended = 31 } id;\n"
	      "\tvariant <id> {\n\t\tstruct { uint27_clock_t timestamp; } compact;\n"
	      "\t\tstruct { u32_t id; u64_clock_t timestamp; } extended;\n\t} v;\n} align(32);\n\n",
	      f);
}

static void print_event(FILE *f, uint32_t stream_class, const struct event_info *info)
{
	static const char *const types[] = {"u32_t", "s32_t", "x32_t", "u64_t", "s64_t", "x64_t"};

	fprintf(f,
		"event {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = %u;\n\tfields := struct {\n",
		info->name, info->id, stream_class);
	for (uint32_t i = 0; i < info->nr_fields; i++) {
		const struct field_info *field = &info->fields[i];

		if (field->type == FIELD_STR)
			fprintf(f, "\t\tu32_t _%s_length;\n\t\tchar8_t _%s[_%s_length];\n",
				field->name, field->name, field->name);
		else
			fprintf(f, "\t\t%s _%s;\n", types[field->type], field->name);
	}
	fputs("\t};\n};\n\n", f);
}

static void print_stream_class(FILE *f, uint32_t stream_class)
{
	fprintf(f,
		"stream {\n\tid = %u;\n\tevent.header := struct event_header;\n"
		"\tpacket.context := struct {\n\t\tu64_clock_t timestamp_begin;\n"
		"\t\tu64_clock_t timestamp_end;\n\t\tu64_t content_size;\n\t\tu64_t packet_size;\n"
		"\t\tu64_t packet_seq_num;\n\t\tu64_t events_discarded;\n\t\tx32_t crc32c;\n"
		"\t\tu32_t %s;\n\t\tu32_t %s;\n\t\tx32_t flags;\n\t};\n};\n\n",
		stream_class,
		stream_class == JIS_STREAM_KERNEL     ? "cpu_id"
		: stream_class == JIS_STREAM_RECORDER ? "owner"
						      : "vtid",
		stream_class <= JIS_STREAM_RECORDER ? "reserved" : "vpid");
	for (uint32_t id = 1; id < JIS_MAX_EVENT_ID; id++) {
		const struct event_info *info = event_info_get(stream_class, id);

		if (info)
			print_event(f, stream_class, info);
	}
}

static int write_file(int dirfd, const char *name, const char *text, size_t n)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
			TRACE_FILE_MODE);
	int err = 0;

	if (fd < 0)
		return -errno;
	while (n && !err) {
		ssize_t done = write(fd, text, n);

		if (done < 0 && errno != EINTR)
			err = -errno;
		if (done > 0) {
			text += done;
			n -= (size_t)done;
		}
	}
	if (close(fd) && !err)
		err = -errno;
	return err;
}

int metadata_write(int dirfd, const struct metadata_params *params)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	int err;

	if (!f)
		return -ENOMEM;
	fputs(prologue, f);
	print_trace(f, params);
	print_clock(f, params);
	print_stream_class(f, params->kernel ? JIS_STREAM_KERNEL : JIS_STREAM_USER);
	print_stream_class(f, params->kernel ? JIS_STREAM_RECORDER : JIS_STREAM_DICT);
	if (fclose(f)) {
		free(text);
		return -ENOMEM;
	}
	/* A name readers of CTF ignore, until it is whole. */
	err = write_file(dirfd, ".metadata.new", text, n);
	if (!err && renameat(dirfd, ".metadata.new", dirfd, "metadata"))
		err = -errno;
	free(text);
	return err;
}
