/* SPDX-License-Identifier: MIT */
/*
 * The place is made with a name nobody can have prepared (random, made anew), belongs to us, and is
 * reached by descriptors only.
 */
#include "attach_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <unistd.h>

#define LIBRARY "libjisagent-" JIS_VERSION ".so"
#define SOCKET "agent"
#define BACKLOG 8

static const char *const parents[] = {"tmp", "var/tmp", "dev/shm", "run"};

static int library_copy(const struct attach_place *p, const char *from)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out = -1, err = 0;
	struct stat st = {.st_size = 0};
	off_t offset = 0;
	ssize_t n;

	if (in < 0)
		return -errno;
	if (!fstat(in, &st))
		out = openat(p->directory, LIBRARY,
			     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0755);
	if (out < 0)
		err = -errno;
	while (!err && offset < st.st_size) {
		n = sendfile(out, in, &offset, (size_t)(st.st_size - offset));
		if (n <= 0)
			err = n < 0 ? -errno : -EIO;
	}
	if (!err && fchmod(out, 0755))
		err = -errno;
	close(in);
	if (out >= 0)
		close(out);
	return err;
}

/*
 * Listened to as the JVM's user: in a user namespace that does not know ours the agent would take
 * us for nobody.
 */
static int socket_make(struct attach_place *p, const struct jvm *j)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int err;

	p->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (p->listener < 0)
		return -errno;
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" SOCKET,
		 p->directory);
	if (bind(p->listener, (struct sockaddr *)&address, sizeof(address)) ||
	    chmod(address.sun_path, 0666))
		return -errno;
	err = jvm_user_become(j);
	if (!err && listen(p->listener, BACKLOG))
		err = -errno;
	jvm_user_restore();
	return err;
}

static int name_make(char name[32])
{
	uint32_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	snprintf(name, 32, ".jis-%d-%08x", (int)getpid(), random);
	return 0;
}

/* The directory itself in p->parent. */
static int directory_make(struct attach_place *p)
{
	int err = name_make(p->name);

	if (err)
		return err;
	if (mkdirat(p->parent, p->name, 0700))
		return -errno;
	p->directory = openat(p->parent, p->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (p->directory < 0 || fchmod(p->directory, 0755))
		return -errno;
	return 0;
}

/*
 * The directory's path as the JVM will have it in its list of mappings, so that the library is
 * found by the same name again, when the file is gone: links are resolved.
 */
static int paths_make(struct attach_place *p, const struct jvm *j)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", p->directory);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return -errno;
	path[n] = 0;
	jvm_path(j, path);
	if (strlen(path) > sizeof(p->socket) - sizeof("/" SOCKET) || strchr(path, ','))
		return -ENAMETOOLONG;
	if (j->agent[0])
		snprintf(p->library, sizeof(p->library), "%s", j->agent);
	else
		snprintf(p->library, sizeof(p->library), "%s/" LIBRARY, path);
	snprintf(p->socket, sizeof(p->socket), "%.*s/" SOCKET,
		 (int)(sizeof(p->socket) - sizeof("/" SOCKET)), path);
	return 0;
}

static int place_make_in(struct attach_place *p, const struct jvm *j, const char *parent,
			 const char *library)
{
	struct statvfs fs;
	int err;

	p->parent = jvm_directory(j, parent);
	if (p->parent < 0)
		return p->parent;
	if (!j->agent[0] && !fstatvfs(p->parent, &fs) && fs.f_flag & ST_NOEXEC)
		return -EACCES;
	err = directory_make(p);
	if (!err && !j->agent[0])
		err = library_copy(p, library);
	if (!err)
		err = paths_make(p, j);
	return err ? err : socket_make(p, j);
}

int attach_place_make(struct attach_place *p, const struct jvm *j, const char *library, char *why)
{
	int err = -ENOENT, first = 0;
	unsigned int i;

	for (i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		memset(p, 0, sizeof(*p));
		p->parent = p->directory = p->listener = -1;
		err = place_make_in(p, j, parents[i], library);
		if (!err)
			return 0;
		if (!first)
			first = err;
		attach_place_remove(p);
	}
	snprintf(why, JVM_WHY_MAX,
		 "none of its /tmp, /var/tmp, /dev/shm and /run takes a copy of the agent: %s",
		 first == -EACCES ? "not writable, or mounted with noexec" : strerror(-first));
	return first;
}

void attach_place_remove(struct attach_place *p)
{
	if (p->listener >= 0)
		close(p->listener);
	if (p->directory >= 0) {
		unlinkat(p->directory, SOCKET, 0);
		unlinkat(p->directory, LIBRARY, 0);
		close(p->directory);
	}
	if (p->name[0] && p->parent >= 0)
		unlinkat(p->parent, p->name, AT_REMOVEDIR);
	if (p->parent >= 0)
		close(p->parent);
	p->parent = p->directory = p->listener = -1;
	p->name[0] = 0;
}
