/* SPDX-License-Identifier: MIT */
/*
 * What a session tells of itself, and the commands others may give it.
 */
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static uint32_t targets_alive(const struct jisctl_session *s, uint32_t *joined)
{
	uint32_t i, n = 0;

	*joined = 0;
	for (i = 0; i < s->nr_targets; i++) {
		struct session_target *t = &s->targets[i];

		if (t->gone)
			continue;
		if (!session_target_alive(s, t)) {
			t->gone = true;
			continue;
		}
		n++;
		*joined += t->joined;
	}
	return n + s->nr_rules;
}

int jisctl_session_counts(const struct jisctl_session *s, struct jisctl_counts *out)
{
	struct jisctl_counts c = {.produced = recorder_produced(s->recorder),
				  .stored = recorder_stored(s->recorder),
				  .bytes = recorder_bytes(s->recorder),
				  .processes = recorder_processes(s->recorder),
				  .lost = recorder_lost(s->recorder)};
	struct backend_counts k;
	size_t size = out->size;
	uint32_t cpu, i;

	if (size < sizeof(size))
		return -EINVAL;
	c.targets = targets_alive(s, &c.joined);
	agent_server_counts(s->agents, &c.produced, &c.stored, &c.lost);
	/* In the end the recorder has taken them. */
	for (cpu = 0; cpu < s->nr_cpus && s->state != JIS_SESSION_STOPPED; cpu++) {
		if (s->ops->counts(s->backend, cpu, &k))
			continue;
		for (i = 0; i < JIS_MAX_EVENT_ID; i++) {
			c.produced += k.produced[i];
			c.lost += k.lost[i];
		}
	}
	c.size = size;
	memcpy(out, &c, size < sizeof(c) ? size : sizeof(c));
	return 0;
}

static int command_status(struct jisctl_session *s, char *text)
{
	struct jisctl_counts c = {.size = sizeof(c)};

	jisctl_session_counts(s, &c);
	snprintf(text, CONTROL_TEXT_MAX,
		 "%s: %llu records stored, %llu lost, %llu bytes, %u processes recorded",
		 s->state == JIS_SESSION_PAUSED ? "paused" : "recording",
		 (unsigned long long)c.stored, (unsigned long long)c.lost,
		 (unsigned long long)c.bytes, c.targets);
	return 0;
}

static int command_snapshot(struct jisctl_session *s, const struct control_request *request,
			    char *text)
{
	int err = jisctl_session_snapshot(s, request->path, request->ns);

	if (err == -EOPNOTSUPP)
		snprintf(text, CONTROL_TEXT_MAX,
			 "it is no flight recorder (jis record --flight-recorder)");
	else if (err == -EEXIST)
		snprintf(text, CONTROL_TEXT_MAX, "%.200s exists and is not empty", request->path);
	else if (err)
		snprintf(text, CONTROL_TEXT_MAX, "%.200s: %s", request->path, strerror(-err));
	else
		snprintf(text, CONTROL_TEXT_MAX, "snapshot in %.200s%s", request->path,
			 s->state == JIS_SESSION_PAUSED
				 ? ", of what was recorded before it was paused"
				 : "");
	return err;
}

int session_command(void *ctx, const struct control_request *request, char *text)
{
	struct jisctl_session *s = ctx;
	const char *command = request->command;
	int err = -EINVAL;

	snprintf(text, CONTROL_TEXT_MAX, "no such command");
	err = session_attach_command(s, request, text);
	if (err == -ENOSYS)
		err = session_methods_command(s, request, text);
	if (err == -ENOSYS)
		err = session_join_command(s, request, text);
	if (err != -ENOSYS)
		return err;
	err = -EINVAL;
	if (strcmp(command, "status") == 0)
		return command_status(s, text);
	if (strcmp(command, "snapshot") == 0)
		return command_snapshot(s, request, text);
	if (strcmp(command, "pause") == 0) {
		err = jisctl_session_pause(s);
		snprintf(text, CONTROL_TEXT_MAX,
			 err == -EALREADY ? "it is not recording" : "paused");
	} else if (strcmp(command, "resume") == 0) {
		err = jisctl_session_resume(s);
		snprintf(text, CONTROL_TEXT_MAX, err == -EALREADY ? "it is not paused" : "resumed");
	} else if (strcmp(command, "stop") == 0) {
		err = 0;
		if (!s->end_reason)
			s->end_reason = "stopped by jis";
		snprintf(text, CONTROL_TEXT_MAX, "stopping");
	}
	if (err && err != -EALREADY && err != -EINVAL)
		snprintf(text, CONTROL_TEXT_MAX, "failed: %s", strerror(-err));
	return err;
}
