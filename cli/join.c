/* SPDX-License-Identifier: MIT */
/*
 * `jis record --join DIR`: runs a command as a further target of the recording under way in DIR.
 * It records nothing itself: the recorder of DIR does, for as long as its session goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli.h"
#include "record.h"
#include "trace/manifest.h"

#define BEGIN_ONE "begin one with jis record -o DIR"

/* A recorder keeps a lock on its directory as long as it lives. */
static bool recorder_lives(int dirfd)
{
	if (flock(dirfd, LOCK_SH | LOCK_NB))
		return errno == EWOULDBLOCK;
	flock(dirfd, LOCK_UN);
	return false;
}

/* Why there is no recorder at the other end of the socket in @directory. */
static void explain_silence(const char *directory)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct manifest *m = NULL;

	if (fd < 0)
		cli_error("%s: no recording is under way there: %s; " BEGIN_ONE, directory,
			  strerror(errno));
	else if (recorder_lives(fd))
		cli_error("%s: its recorder does not answer: it is another version of jis (this is "
			  "%s), or is just beginning or ending; use the jis that records there",
			  directory, JIS_VERSION);
	else if (manifest_load(fd, &m))
		cli_error("%s: no recording is under way there; " BEGIN_ONE, directory);
	else if (m->complete)
		cli_error("%s: the recording there has ended; begin another with jis record -o DIR",
			  directory);
	else
		cli_error("%s: the recorder there was killed; jis recover %s makes what it left "
			  "whole, jis record -o DIR begins another recording",
			  directory, directory);
	manifest_free(m);
	if (fd >= 0)
		close(fd);
}

static int explain(const char *directory, int err, const char *reply)
{
	if (err == -ENOENT || err == -ENOTDIR || err == -ECONNREFUSED || err == -ECONNRESET)
		explain_silence(directory);
	else if ((err == -EACCES || err == -EPERM) && !reply[0])
		cli_error("%s: only root and the user who records may join; use sudo", directory);
	else if (err == -EPROTONOSUPPORT)
		cli_error("%s: its recorder is another version of jis (%s, this is %s): use the "
			  "jis that records there",
			  directory, reply[0] ? reply : "one that cannot be joined", JIS_VERSION);
	else
		cli_error("%s: the command cannot be recorded there: %s", directory,
			  reply[0] ? reply : strerror(-err));
	return CLI_FAILED;
}

/* Forks the command and has it made a target. On failure nothing of it has run. */
static int begin(struct record *r)
{
	struct jisctl_join join = {.size = sizeof(join)};
	struct jisctl_target target;
	char reply[256];
	int err, status;

	err = jisctl_join(r->join, &join, reply, sizeof(reply));
	if (err)
		return explain(r->join, err, reply);
	status = run_command_fork(&r->command, join.socket,
				  join.agent && !r->no_agent ? join.agent_options : NULL);
	if (status)
		return status;
	target = targets_command(&r->targets, r->command.child.pid);
	err = jisctl_join_target(r->join, &target, reply, sizeof(reply));
	if (err)
		status = explain(r->join, err, reply);
	else if (signals_count())
		status = signals_status();
	if (status)
		run_command_drop(&r->command);
	return status ? status : run_command_go(&r->command);
}

int join_run(struct record *r)
{
	int status;

	signals_watch();
	status = begin(r);
	if (!status) {
		cli_note("process %d is recorded into %s", (int)r->command.child.pid, r->join);
		run_command_wait(&r->command);
		status = r->command.status;
	}
	agent_copy_remove(&r->command.agent);
	return status;
}
