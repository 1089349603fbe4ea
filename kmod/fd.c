// SPDX-License-Identifier: GPL-2.0-only
/*
 * What file descriptors are: one record before a descriptor's first use in a recorded call, and
 * again when it has become something else.
 *
 * Called by probes of system calls, so in the context of the thread whose descriptor it is, with
 * preemption off. The file is held while it is looked at; letting go of the last reference leaves
 * the closing to the thread's way out of the kernel, as for any call.
 */
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/magic.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/un.h>
#include <net/af_unix.h>
#include <net/inet_sock.h>
#include <net/sock.h>

#include "syscalls.h"

static __always_inline u64 mix(u64 hash, u64 value)
{
	hash = (hash ^ value) * GOLDEN_RATIO_64;
	return hash ^ hash >> 29;
}

static struct jis_fd_named *named_slot(struct jis_session *s, u32 pid, int fd)
{
	return &s->calls->named[hash_64((u64)pid << 32 | (u32)fd, JIS_FD_BITS)];
}

/* The socket behind the file, or NULL. A path-only descriptor does not hold it. */
static const struct sock *sock_of(const struct file *file)
{
	struct inode *inode = file_inode(file);

	if (inode->i_sb->s_magic != SOCKFS_MAGIC || file->f_mode & FMODE_PATH)
		return NULL;
	return READ_ONCE(SOCKET_I(inode)->sk);
}

/*
 * The addresses of a unix socket: its own and that of whom it is connected to. They are given once
 * and stay as long as the sockets, and a stream keeps the one that it is connected to as long as
 * itself, so no lock is needed. Datagrams' may be connected anew meanwhile: theirs is left alone.
 */
struct unix_names {
	const struct unix_address *own, *peer;
};

static void unix_names_of(const struct sock *sk, struct unix_names *names)
{
	const struct sock *peer;

	memset(names, 0, sizeof(*names));
	if (!sk || sk->sk_family != AF_UNIX)
		return;
	/* Pairs with the releases of the kernel's binding and unix_stream_connect(). */
	names->own = smp_load_acquire(&unix_sk(sk)->addr);
	if (sk->sk_type != SOCK_STREAM && sk->sk_type != SOCK_SEQPACKET)
		return;
	/* Stored once, plainly, when all of it is there; the kernel's own senders read it so. */
	peer = data_race(READ_ONCE(unix_sk(sk)->peer));
	if (!peer)
		return;
	/* Pairs with the same. */
	names->peer = smp_load_acquire(&unix_sk(peer)->addr);
}

/*
 * Which file it is; opened again it is the same. The kernel takes memory of what was freed last, so
 * pointers alone would be those of the file before: the inode's number and the name's hash are
 * others'.
 */
static u64 file_identity(u32 pid, int fd, const struct file *file, const struct sock *sk)
{
	const struct dentry *dentry = file->f_path.dentry;
	const struct inode *inode = file_inode(file);
	u64 hash = mix((u64)pid << 32 | (u32)fd, (unsigned long)inode);
	struct unix_names names;

	if (sk) {
		unix_names_of(sk, &names);
		hash = mix(mix(hash, (unsigned long)names.own), (unsigned long)names.peer);
	}
	hash = mix(hash, inode->i_ino ^ (u64)inode->i_generation << 32);
	hash = mix(hash, (unsigned long)dentry);
	return mix(hash, READ_ONCE(dentry->d_name.hash_len));
}

/* What is no file has a name the kernel makes up: "anon_inode:[eventfd]". */
static u32 anonymous_type(const char *name)
{
	if (!strcmp(name, "[eventfd]"))
		return JIS_FD_EVENTFD;
	if (!strcmp(name, "[eventpoll]"))
		return JIS_FD_EPOLL;
	if (!strcmp(name, "[timerfd]"))
		return JIS_FD_TIMERFD;
	if (!strcmp(name, "[signalfd]"))
		return JIS_FD_SIGNALFD;
	if (!strcmp(name, "inotify"))
		return JIS_FD_INOTIFY;
	return JIS_FD_ANONYMOUS;
}

static u32 file_type(const struct file *file, const char *path)
{
	size_t prefix = str_has_prefix(path, "anon_inode:");

	if (prefix)
		return anonymous_type(path + prefix);
	switch (file_inode(file)->i_mode & S_IFMT) {
	case S_IFREG:
		return JIS_FD_FILE;
	case S_IFDIR:
		return JIS_FD_DIRECTORY;
	case S_IFCHR:
		return JIS_FD_CHARACTER_DEVICE;
	case S_IFBLK:
		return JIS_FD_BLOCK_DEVICE;
	case S_IFIFO:
		return JIS_FD_PIPE;
	case S_IFSOCK:
		return JIS_FD_SOCKET;
	}
	return JIS_FD_UNKNOWN;
}

/*
 * As /proc/net/unix shows it: what begins with a zero byte is in no file system, and each such byte
 * is shown as @.
 */
static size_t unix_name_write(char *to, const struct unix_address *address)
{
	int i, n = address->len - (int)offsetof(struct sockaddr_un, sun_path);
	const char *path = address->name->sun_path;

	n = clamp_t(int, n, 0, UNIX_PATH_MAX);
	if (n && path[0])
		n = strnlen(path, n);
	for (i = 0; i < n; i++)
		to[i] = path[i] ? path[i] : '@';
	to[n] = '\0';
	return n;
}

/*
 * Which unix socket: its own name, who it is connected to, or both; where neither has a name, the
 * inode's number.
 */
static int socket_name(const struct file *file, char *buffer)
{
	unsigned long ino = file_inode(file)->i_ino;
	struct unix_names names;
	size_t n;

	unix_names_of(sock_of(file), &names);
	if (!names.own && !names.peer)
		return snprintf(buffer, PATH_MAX, "socket:[%lu]", ino);
	n = strscpy(buffer, "unix:", PATH_MAX);
	if (names.own)
		n += unix_name_write(buffer + n, names.own);
	if (names.own && names.peer)
		n += strscpy(buffer + n, " -> ", PATH_MAX - n);
	if (names.peer)
		n += unix_name_write(buffer + n, names.peer);
	return n;
}

/*
 * The name of what is in no directory: from a word and a number that never change, so no lock is
 * needed to make it. Returns whether it is of one of the kinds known here.
 */
static bool made_up_name(const struct file *file, char *buffer)
{
	const struct dentry *dentry = file->f_path.dentry;
	unsigned long ino = file_inode(file)->i_ino;

	switch (dentry->d_sb->s_magic) {
	case ANON_INODE_FS_MAGIC:
		return snprintf(buffer, PATH_MAX, "anon_inode:%s", dentry->d_name.name);
	case PIPEFS_MAGIC:
		return snprintf(buffer, PATH_MAX, "pipe:[%lu]", ino);
	case SOCKFS_MAGIC:
		return socket_name(file, buffer);
	case TMPFS_MAGIC: /* memfd_create(), System V: on a mount of the kernel's own */
	case HUGETLBFS_MAGIC:
		return dentry->d_op && dentry->d_op->d_dname &&
		       snprintf(buffer, PATH_MAX, "/%s (deleted)", dentry->d_name.name);
	}
	return false;
}

/*
 * As /proc shows it to the process itself.
 *
 * d_path() reads names without locks first, and takes the spinlocks of renames and mounts when
 * something changes meanwhile; d_dname() of some file systems (dma-buf's) takes one always. Here
 * preemption is off, so neither may be called on a realtime kernel, where a spinlock sleeps: what
 * we cannot name ourselves has a type there and no path. Elsewhere a spinlock is fine, as the
 * thread holds none: it is at its entry to the kernel or its exit.
 */
static const char *shown_path(const struct file *file, char *buffer)
{
	const char *path;

	if (made_up_name(file, buffer))
		return buffer;
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return "";
	path = d_path(&file->f_path, buffer, PATH_MAX);
	return IS_ERR(path) ? "" : path;
}

/* Returns whether it is in the trace. */
static bool name_file(struct jis_session *s, int fd, const struct file *file, u64 age)
{
	char *buffer = this_cpu_ptr(s->calls->scratch)->text;
	const char *path = shown_path(file, buffer);
	struct jis_ev_fd_file *ev;
	struct jis_text text;
	unsigned long irq;
	u32 type;

	type = file_type(file, path);
	text = jis_text_fit(path);
	ev = jis_record_begin(s, JIS_EV_fd_file, sizeof(*ev) + text.size, &irq);
	if (ev) {
		ev->pid = current->tgid;
		ev->fd = fd;
		ev->age = age;
		ev->type = type;
		ev->path_length = text.size;
		jis_text_write(ev->path, &text);
	}
	jis_record_end(irq);
	return ev;
}

static bool of_internet(const struct sock *sk)
{
	return sk->sk_family == AF_INET || sk->sk_family == AF_INET6;
}

static void socket_addresses(struct jis_ev_fd_socket *ev, const struct sock *sk)
{
	u64 local[2] = {}, peer[2] = {};

	if (ev->family == AF_INET) {
		memcpy(local, &sk->sk_rcv_saddr, sizeof(sk->sk_rcv_saddr));
		memcpy(peer, &sk->sk_daddr, sizeof(sk->sk_daddr));
	}
#if IS_ENABLED(CONFIG_IPV6)
	if (ev->family == AF_INET6) {
		memcpy(local, &sk->sk_v6_rcv_saddr, sizeof(sk->sk_v6_rcv_saddr));
		memcpy(peer, &sk->sk_v6_daddr, sizeof(sk->sk_v6_daddr));
	}
#endif
	ev->local0 = local[0];
	ev->local1 = local[1];
	if (!ev->peer_port)
		return;
	ev->peer0 = peer[0];
	ev->peer1 = peer[1];
}

static void socket_describe(struct jis_ev_fd_socket *ev, int fd, const struct sock *sk)
{
	memset(ev, 0, sizeof(*ev));
	ev->pid = current->tgid;
	ev->fd = fd;
	ev->family = sk->sk_family;
	ev->type = sk->sk_type;
	ev->local_port = ntohs(READ_ONCE(inet_sk(sk)->inet_sport));
	ev->peer_port = ntohs(READ_ONCE(sk->sk_dport));
	socket_addresses(ev, sk);
}

static u64 socket_identity(const struct jis_ev_fd_socket *ev, const struct file *file)
{
	u64 hash = mix(0, file_inode(file)->i_ino);
	const u32 *word = (const u32 *)ev;
	size_t i;

	for (i = 0; i < sizeof(*ev) / sizeof(*word); i += 2)
		hash = mix(hash, word[i] | (u64)word[i + 1] << 32);
	return hash;
}

static_assert(sizeof(struct jis_ev_fd_socket) % 8 == 0);

static bool name_socket(struct jis_session *s, const struct jis_ev_fd_socket *what)
{
	struct jis_ev_fd_socket *ev;
	unsigned long irq;

	ev = jis_record_begin(s, JIS_EV_fd_socket, sizeof(*ev), &irq);
	if (ev)
		memcpy(ev, what, sizeof(*ev));
	jis_record_end(irq);
	return ev;
}

/*
 * For how long the descriptor has been what is in its slot. Two threads that tell different files
 * in one slot at the same moment may leave one's time with the other's file; it is the same moment.
 */
static u64 named_age(const struct jis_fd_named *slot, u64 now)
{
	u64 since = READ_ONCE(slot->since);

	return now > since ? now - since : 0;
}

/**
 * jis_fd_name - says what descriptor @fd of the current process is, unless that was said last.
 *
 * It is remembered only after the record is written, and not at all when that was lost: so who
 * finds it remembered may use the descriptor in a record.
 */
notrace void jis_fd_name(struct jis_session *s, int fd)
{
	struct jis_fd_named *slot = named_slot(s, current->tgid, fd);
	struct jis_ev_fd_socket ev;
	u64 identity, told, now;
	const struct sock *sk;
	struct file *file;
	bool again, inet;

	if (fd < 0)
		return;
	file = fget_raw(fd);
	if (!file)
		return;
	sk = sock_of(file);
	inet = sk && of_internet(sk);
	if (inet) {
		socket_describe(&ev, fd, sk);
		identity = socket_identity(&ev, file);
	} else {
		identity = file_identity(current->tgid, fd, file, sk);
	}
	identity &= ~JIS_FD_AGAIN;
	/* Pairs with the release below: who sees it told is stamped later. */
	told = smp_load_acquire(&slot->identity);
	if (told != identity) {
		now = jis_now(s);
		again = told == (identity | JIS_FD_AGAIN);
		ev.age = again ? named_age(slot, now) : 0;
		if (inet ? name_socket(s, &ev) : name_file(s, fd, file, ev.age)) {
			if (!again)
				WRITE_ONCE(slot->since, now);
			smp_store_release(&slot->identity, identity); /* pairs with the above */
		}
	}
	fput(file);
}

/**
 * jis_fds_forget - all descriptors are named again: when a dump says what everything is. For how
 * long they have been what they are is kept.
 */
void jis_fds_forget(struct jis_session *s)
{
	u64 *identity, was;
	u32 i;

	for (i = 0; s->calls && i < JIS_FD_SLOTS; i++) {
		identity = &s->calls->named[i].identity;
		was = READ_ONCE(*identity);
		if (was) /* when it has changed, it is told this moment */
			cmpxchg(identity, was, was | JIS_FD_AGAIN);
	}
}
