/* SPDX-License-Identifier: MIT */
/*
 * Changing the traced methods of a JVM while it is recorded: commands of the control socket.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "jis/agent.h"
#include "session.h"

static int change_begin(struct jisctl_session *s, const struct control_request *request, char *text)
{
	int err = s->options.methods ? agent_server_methods(s->agents, request->pid, request->path,
							    JIS_METHODS_USER)
				     : -EOPNOTSUPP;

	if (err == -EOPNOTSUPP)
		snprintf(text, CONTROL_TEXT_MAX,
			 "the recording was begun without --methods (--methods none traces none "
			 "at first)");
	else if (err == -EBUSY)
		snprintf(text, CONTROL_TEXT_MAX, "a change of its methods is under way");
	else if (err)
		snprintf(text, CONTROL_TEXT_MAX, "the recording has no agent in it that is ready");
	else
		snprintf(text, CONTROL_TEXT_MAX, "begun");
	return err;
}

int session_methods_command(struct jisctl_session *s, const struct control_request *request,
			    char *text)
{
	int err;

	if (strcmp(request->command, "methods") == 0)
		return change_begin(s, request, text);
	if (strcmp(request->command, "methods-done") != 0)
		return -ENOSYS;
	err = agent_server_methods_done(s->agents, request->pid, text, CONTROL_TEXT_MAX);
	if (err == -ENOENT)
		snprintf(text, CONTROL_TEXT_MAX, "the agent has left");
	return err;
}
