/* SPDX-License-Identifier: MIT */
/*
 * Commands that join a session under way. They are started by another process than the recorder's,
 * which asks for what the command's environment must have, and then, while the command still
 * waits, for its process to be made a target.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "session.h"
#include "trace/manifest.h"

#define TARGET_FLAGS (JISCTL_TARGET_CHILDREN | JISCTL_TARGET_UNTIL_EXEC | JISCTL_TARGET_FIRST_EXEC)

/* Lines: version, socket, and where agents are to be given their options. */
static int command_join(struct jisctl_session *s, char *text)
{
	const char *options = s->options.agent_options;

	snprintf(text, CONTROL_TEXT_MAX, "%s\n%.128s\n%s%.64s", JIS_VERSION,
		 agent_server_path(s->agents), options ? "agent " : "", options ? options : "");
	return 0;
}

static const char *refusal(int err)
{
	switch (err) {
	case -ESRCH:
		return "there is no such process";
	case -EEXIST:
		return "it is recorded already";
	case -ENOSPC:
		return "too many processes are recorded";
	case -EOPNOTSUPP:
		return "the ftrace backend cannot do that, the kernel module (jis.ko) can";
	}
	return strerror(-err);
}

static int command_target(struct jisctl_session *s, const struct control_request *request,
			  char *text)
{
	struct jisctl_target target = {.size = sizeof(target),
				       .kind = JISCTL_TARGET_PROCESS,
				       .flags = (int)request->flags,
				       .pid = request->pid,
				       .name = request->path[0] ? request->path : NULL};
	int err = -EINVAL;

	if (!(request->flags & ~(uint32_t)TARGET_FLAGS))
		err = jisctl_session_add_target2(s, &target);
	snprintf(text, CONTROL_TEXT_MAX, "%s", err ? refusal(err) : "recorded");
	if (!err)
		s->targets[s->nr_targets - 1].joined = true;
	return err;
}

int session_join_command(struct jisctl_session *s, const struct control_request *request,
			 char *text)
{
	if (!strcmp(request->command, "join"))
		return command_join(s, text);
	if (!strcmp(request->command, "target"))
		return command_target(s, request, text);
	return -ENOSYS;
}

/* The other end ------------------------------------------------------------------------------ */

/* The next line of @text, which is cut there; NULL: there is none. */
static char *line_take(char **text)
{
	char *line = *text, *end = line ? strchr(line, '\n') : NULL;

	*text = end ? end + 1 : NULL;
	if (end)
		*end = 0;
	return line;
}

int jisctl_join(const char *directory, struct jisctl_join *join, char *reply, size_t n)
{
	char answer[CONTROL_TEXT_MAX], *rest = answer, *version, *socket, *agent;
	int err;

	if (join->size != sizeof(*join))
		return -EINVAL;
	err = jisctl_control(directory, "join", answer, sizeof(answer));
	if (n)
		snprintf(reply, n, "%s", err ? answer : "");
	if (err == -EINVAL) /* it knows no such command */
		return -EPROTONOSUPPORT;
	if (err)
		return err;
	version = line_take(&rest);
	socket = line_take(&rest);
	agent = line_take(&rest);
	if (!agent || strcmp(version, JIS_VERSION)) {
		if (n)
			snprintf(reply, n, "%s", version);
		return -EPROTONOSUPPORT;
	}
	snprintf(join->socket, sizeof(join->socket), "%s", socket);
	join->agent = !strncmp(agent, "agent ", 6);
	snprintf(join->agent_options, sizeof(join->agent_options), "%s",
		 join->agent ? agent + 6 : "");
	return 0;
}
