/* SPDX-License-Identifier: MIT */
/*
 * The layout that kernel, recorder, writers and files share, as plain numbers: a change of any is a
 * change of the ABI or of the schema, and must raise JIS_ABI_VERSION or JIS_SCHEMA_VERSION.
 */
#include <check.h>
#include <stddef.h>

#include "jis/agent.h"
#include "jis/abi.h"

#define SIZE(type, size) ck_assert_uint_eq(sizeof(struct type), size)
#define AT(type, field, offset) ck_assert_uint_eq(offsetof(struct type, field), offset)

START_TEST(packets)
{
	SIZE(jis_packet_header, 96);
	AT(jis_packet_header, magic, 0);
	AT(jis_packet_header, uuid, 4);
	AT(jis_packet_header, stream_class, 20);
	AT(jis_packet_header, stream_instance, 24);
	AT(jis_packet_header, timestamp_begin, 32);
	AT(jis_packet_header, timestamp_end, 40);
	AT(jis_packet_header, content_size, 48);
	AT(jis_packet_header, packet_size, 56);
	AT(jis_packet_header, packet_seq, 64);
	AT(jis_packet_header, events_discarded, 72);
	AT(jis_packet_header, crc32c, 80);
	AT(jis_packet_header, owner, 84);
	AT(jis_packet_header, pid, 88);
	AT(jis_packet_header, flags, 92);
}
END_TEST

START_TEST(device)
{
	SIZE(jis_setup, 112);
	AT(jis_setup, size, 0);
	AT(jis_setup, abi_version, 4);
	AT(jis_setup, flags, 8);
	AT(jis_setup, clock, 12);
	AT(jis_setup, base, 16);
	AT(jis_setup, buffer_bytes, 24);
	AT(jis_setup, packet_size, 32);
	AT(jis_setup, watermark, 36);
	AT(jis_setup, uuid, 40);
	AT(jis_setup, nr_cpus, 56);
	AT(jis_setup, packets_per_cpu, 60);
	AT(jis_setup, ring_bytes, 64);
	AT(jis_setup, schema_version, 72);
	AT(jis_setup, families, 76);
	AT(jis_setup, features, 80);
	AT(jis_setup, reserved, 84);
	SIZE(jis_target, 88);
	AT(jis_target, size, 0);
	AT(jis_target, flags, 4);
	AT(jis_target, kind, 8);
	AT(jis_target, pid, 12);
	AT(jis_target, fd, 16);
	AT(jis_target, reserved, 20);
	AT(jis_target, name, 24);
	SIZE(jis_syscall_desc, 4);
	AT(jis_syscall_desc, shape, 0);
	AT(jis_syscall_desc, a, 1);
	AT(jis_syscall_desc, b, 2);
	AT(jis_syscall_desc, c, 3);
	SIZE(jis_syscalls, 4104);
	AT(jis_syscalls, size, 0);
	AT(jis_syscalls, reserved, 4);
	AT(jis_syscalls, native, 8);
	AT(jis_syscalls, compat, 2056);
	SIZE(jis_pool_create, 48);
	AT(jis_pool_create, size, 0);
	AT(jis_pool_create, pid, 4);
	AT(jis_pool_create, bytes, 8);
	AT(jis_pool_create, words_offset, 16);
	AT(jis_pool_create, nr_words, 24);
	AT(jis_pool_create, fd, 28);
	AT(jis_pool_create, reserved, 32);
	SIZE(jis_get_packet, 24);
	AT(jis_get_packet, size, 0);
	AT(jis_get_packet, cpu, 4);
	AT(jis_get_packet, index, 8);
	AT(jis_get_packet, bytes, 12);
	AT(jis_get_packet, reserved, 16);
	SIZE(jis_counters, 1032);
	AT(jis_counters, size, 0);
	AT(jis_counters, cpu, 4);
	AT(jis_counters, produced, 8);
	AT(jis_counters, lost, 520);
	SIZE(jis_status, 120);
	AT(jis_status, size, 0);
	AT(jis_status, state, 4);
	AT(jis_status, nr_targets, 8);
	AT(jis_status, nr_cpus, 12);
	AT(jis_status, produced, 16);
	AT(jis_status, lost, 24);
	AT(jis_status, memory_bytes, 32);
	AT(jis_status, clock_steps, 40);
	AT(jis_status, packets_ready, 48);
	AT(jis_status, targets_refused, 56);
	AT(jis_status, threads_refused, 64);
	AT(jis_status, overwritten, 72);
	AT(jis_status, queues_refused, 80);
	AT(jis_status, reserved, 88);
}
END_TEST

START_TEST(pools)
{
	SIZE(jis_pool_header, 640);
	AT(jis_pool_header, magic, 0);
	AT(jis_pool_header, abi_version, 8);
	AT(jis_pool_header, schema_version, 12);
	AT(jis_pool_header, total_size, 16);
	AT(jis_pool_header, clock, 24);
	AT(jis_pool_header, pid, 28);
	AT(jis_pool_header, base, 32);
	AT(jis_pool_header, uuid, 40);
	AT(jis_pool_header, nr_slots, 56);
	AT(jis_pool_header, slot_size, 60);
	AT(jis_pool_header, nr_packets, 64);
	AT(jis_pool_header, packet_size, 68);
	AT(jis_pool_header, slots_offset, 72);
	AT(jis_pool_header, states_offset, 80);
	AT(jis_pool_header, packets_offset, 88);
	AT(jis_pool_header, dict_packets, 96);
	AT(jis_pool_header, nr_words, 100);
	AT(jis_pool_header, words_offset, 104);
	AT(jis_pool_header, event_mask, 112);
	AT(jis_pool_header, no_slot, 120);
	SIZE(jis_slot, 1664);
	AT(jis_slot, owner, 0);
	AT(jis_slot, busy, 4);
	AT(jis_slot, last, 8);
	AT(jis_slot, position, 16);
	AT(jis_slot, end, 24);
	AT(jis_slot, packet, 32);
	AT(jis_slot, bound, 36);
	AT(jis_slot, sequence, 40);
	AT(jis_slot, lost_total, 48);
	AT(jis_slot, words_until, 56);
	AT(jis_slot, words_were, 64);
	AT(jis_slot, lost_first, 72);
	AT(jis_slot, lost_last, 80);
	AT(jis_slot, lost_told, 88);
	AT(jis_slot, produced, 600);
	AT(jis_slot, lost, 1112);
	SIZE(jis_thread_words, 32);
	AT(jis_thread_words, tid, 0);
	AT(jis_thread_words, reserved, 4);
	AT(jis_thread_words, vm_state, 8);
	AT(jis_thread_words, os_state, 16);
	AT(jis_thread_words, reserved1, 24);
}
END_TEST

START_TEST(kernel_events)
{
	SIZE(jis_ev_sched_switch, 28);
	AT(jis_ev_sched_switch, prev_tid, 0);
	AT(jis_ev_sched_switch, next_tid, 4);
	AT(jis_ev_sched_switch, prev_state, 8);
	AT(jis_ev_sched_switch, prev_syscall, 12);
	AT(jis_ev_sched_switch, prev_cgroup, 16);
	AT(jis_ev_sched_switch, prev_vm_state, 20);
	AT(jis_ev_sched_switch, prev_os_state, 24);
	SIZE(jis_ev_sched_waking, 20);
	AT(jis_ev_sched_waking, tid, 0);
	AT(jis_ev_sched_waking, waker_tid, 4);
	AT(jis_ev_sched_waking, context, 8);
	AT(jis_ev_sched_waking, source, 12);
	AT(jis_ev_sched_waking, target_cpu, 16);
	SIZE(jis_ev_sched_wakeup, 8);
	AT(jis_ev_sched_wakeup, tid, 0);
	AT(jis_ev_sched_wakeup, target_cpu, 4);
	SIZE(jis_ev_sched_wakeup_new, 8);
	AT(jis_ev_sched_wakeup_new, tid, 0);
	AT(jis_ev_sched_wakeup_new, target_cpu, 4);
	SIZE(jis_ev_sched_process_fork, 28);
	AT(jis_ev_sched_process_fork, parent_tid, 0);
	AT(jis_ev_sched_process_fork, tid, 4);
	AT(jis_ev_sched_process_fork, pid, 8);
	AT(jis_ev_sched_process_fork, ns_tid, 12);
	AT(jis_ev_sched_process_fork, start_time, 16);
	AT(jis_ev_sched_process_fork, comm_length, 24);
	AT(jis_ev_sched_process_fork, comm, 28);
	SIZE(jis_ev_sched_process_exec, 16);
	AT(jis_ev_sched_process_exec, tid, 0);
	AT(jis_ev_sched_process_exec, old_tid, 4);
	AT(jis_ev_sched_process_exec, pid, 8);
	AT(jis_ev_sched_process_exec, filename_length, 12);
	AT(jis_ev_sched_process_exec, filename, 16);
	SIZE(jis_ev_sched_process_exit, 12);
	AT(jis_ev_sched_process_exit, tid, 0);
	AT(jis_ev_sched_process_exit, pid, 4);
	AT(jis_ev_sched_process_exit, exit_code, 8);
	SIZE(jis_ev_sched_process_free, 8);
	AT(jis_ev_sched_process_free, tid, 0);
	AT(jis_ev_sched_process_free, pid, 4);
	SIZE(jis_ev_task_rename, 12);
	AT(jis_ev_task_rename, tid, 0);
	AT(jis_ev_task_rename, pid, 4);
	AT(jis_ev_task_rename, comm_length, 8);
	AT(jis_ev_task_rename, comm, 12);
	SIZE(jis_ev_thread_state, 32);
	AT(jis_ev_thread_state, tid, 0);
	AT(jis_ev_thread_state, pid, 4);
	AT(jis_ev_thread_state, ns_tid, 8);
	AT(jis_ev_thread_state, state, 12);
	AT(jis_ev_thread_state, cpu, 16);
	AT(jis_ev_thread_state, start_time, 20);
	AT(jis_ev_thread_state, comm_length, 28);
	AT(jis_ev_thread_state, comm, 32);
	SIZE(jis_ev_task_name, 12);
	AT(jis_ev_task_name, tid, 0);
	AT(jis_ev_task_name, pid, 4);
	AT(jis_ev_task_name, comm_length, 8);
	AT(jis_ev_task_name, comm, 12);
	SIZE(jis_ev_sched_migrate_task, 12);
	AT(jis_ev_sched_migrate_task, tid, 0);
	AT(jis_ev_sched_migrate_task, orig_cpu, 4);
	AT(jis_ev_sched_migrate_task, dest_cpu, 8);
	SIZE(jis_ev_cpu_steal, 8);
	AT(jis_ev_cpu_steal, stolen, 0);
}
END_TEST

START_TEST(system_call_events)
{
	SIZE(jis_ev_syscall_enter, 8);
	AT(jis_ev_syscall_enter, tid, 0);
	AT(jis_ev_syscall_enter, nr, 4);
	SIZE(jis_ev_syscall_io, 20);
	AT(jis_ev_syscall_io, tid, 0);
	AT(jis_ev_syscall_io, nr, 4);
	AT(jis_ev_syscall_io, fd, 8);
	AT(jis_ev_syscall_io, size, 12);
	SIZE(jis_ev_syscall_futex, 32);
	AT(jis_ev_syscall_futex, tid, 0);
	AT(jis_ev_syscall_futex, nr, 4);
	AT(jis_ev_syscall_futex, op, 8);
	AT(jis_ev_syscall_futex, value, 12);
	AT(jis_ev_syscall_futex, address, 16);
	AT(jis_ev_syscall_futex, timeout, 24);
	SIZE(jis_ev_syscall_wait, 28);
	AT(jis_ev_syscall_wait, tid, 0);
	AT(jis_ev_syscall_wait, nr, 4);
	AT(jis_ev_syscall_wait, fd, 8);
	AT(jis_ev_syscall_wait, count, 12);
	AT(jis_ev_syscall_wait, flags, 16);
	AT(jis_ev_syscall_wait, timeout, 20);
	SIZE(jis_ev_syscall_address, 36);
	AT(jis_ev_syscall_address, tid, 0);
	AT(jis_ev_syscall_address, nr, 4);
	AT(jis_ev_syscall_address, fd, 8);
	AT(jis_ev_syscall_address, family, 12);
	AT(jis_ev_syscall_address, port, 16);
	AT(jis_ev_syscall_address, address0, 20);
	AT(jis_ev_syscall_address, address1, 28);
	SIZE(jis_ev_syscall_memory, 24);
	AT(jis_ev_syscall_memory, tid, 0);
	AT(jis_ev_syscall_memory, nr, 4);
	AT(jis_ev_syscall_memory, address, 8);
	AT(jis_ev_syscall_memory, size, 16);
	SIZE(jis_ev_syscall_path, 20);
	AT(jis_ev_syscall_path, tid, 0);
	AT(jis_ev_syscall_path, nr, 4);
	AT(jis_ev_syscall_path, dirfd, 8);
	AT(jis_ev_syscall_path, flags, 12);
	AT(jis_ev_syscall_path, path_length, 16);
	AT(jis_ev_syscall_path, path, 20);
	SIZE(jis_ev_syscall_exit, 16);
	AT(jis_ev_syscall_exit, tid, 0);
	AT(jis_ev_syscall_exit, nr, 4);
	AT(jis_ev_syscall_exit, result, 8);
	SIZE(jis_ev_irq_entry, 12);
	AT(jis_ev_irq_entry, tid, 0);
	AT(jis_ev_irq_entry, kind, 4);
	AT(jis_ev_irq_entry, vector, 8);
	SIZE(jis_ev_irq_exit, 12);
	AT(jis_ev_irq_exit, tid, 0);
	AT(jis_ev_irq_exit, kind, 4);
	AT(jis_ev_irq_exit, vector, 8);
	SIZE(jis_ev_lost_records, 28);
	AT(jis_ev_lost_records, type, 0);
	AT(jis_ev_lost_records, count, 4);
	AT(jis_ev_lost_records, first, 12);
	AT(jis_ev_lost_records, last, 20);
}
END_TEST

START_TEST(rare_kernel_events)
{
	SIZE(jis_ev_fd_file, 24);
	AT(jis_ev_fd_file, pid, 0);
	AT(jis_ev_fd_file, fd, 4);
	AT(jis_ev_fd_file, age, 8);
	AT(jis_ev_fd_file, type, 16);
	AT(jis_ev_fd_file, path_length, 20);
	AT(jis_ev_fd_file, path, 24);
	SIZE(jis_ev_fd_socket, 64);
	AT(jis_ev_fd_socket, pid, 0);
	AT(jis_ev_fd_socket, fd, 4);
	AT(jis_ev_fd_socket, age, 8);
	AT(jis_ev_fd_socket, family, 16);
	AT(jis_ev_fd_socket, type, 20);
	AT(jis_ev_fd_socket, local_port, 24);
	AT(jis_ev_fd_socket, peer_port, 28);
	AT(jis_ev_fd_socket, local0, 32);
	AT(jis_ev_fd_socket, local1, 40);
	AT(jis_ev_fd_socket, peer0, 48);
	AT(jis_ev_fd_socket, peer1, 56);
	SIZE(jis_ev_thread_attributes, 28);
	AT(jis_ev_thread_attributes, tid, 0);
	AT(jis_ev_thread_attributes, policy, 4);
	AT(jis_ev_thread_attributes, prio, 8);
	AT(jis_ev_thread_attributes, nice, 12);
	AT(jis_ev_thread_attributes, nr_cpus, 16);
	AT(jis_ev_thread_attributes, cpus, 20);
	SIZE(jis_ev_cgroup_name, 8);
	AT(jis_ev_cgroup_name, cgroup, 0);
	AT(jis_ev_cgroup_name, path_length, 4);
	AT(jis_ev_cgroup_name, path, 8);
	SIZE(jis_ev_cgroup_attach, 12);
	AT(jis_ev_cgroup_attach, tid, 0);
	AT(jis_ev_cgroup_attach, pid, 4);
	AT(jis_ev_cgroup_attach, cgroup, 8);
	SIZE(jis_ev_cgroup_throttle, 12);
	AT(jis_ev_cgroup_throttle, cgroup, 0);
	AT(jis_ev_cgroup_throttle, cpu, 4);
	AT(jis_ev_cgroup_throttle, throttled, 8);
	SIZE(jis_ev_page_fault, 32);
	AT(jis_ev_page_fault, tid, 0);
	AT(jis_ev_page_fault, error, 4);
	AT(jis_ev_page_fault, address, 8);
	AT(jis_ev_page_fault, ip, 16);
	AT(jis_ev_page_fault, since, 24);
	SIZE(jis_ev_block_rq_issue, 24);
	AT(jis_ev_block_rq_issue, tid, 0);
	AT(jis_ev_block_rq_issue, dev, 4);
	AT(jis_ev_block_rq_issue, sector, 8);
	AT(jis_ev_block_rq_issue, bytes, 16);
	AT(jis_ev_block_rq_issue, op, 20);
	SIZE(jis_ev_block_rq_complete, 20);
	AT(jis_ev_block_rq_complete, dev, 0);
	AT(jis_ev_block_rq_complete, sector, 4);
	AT(jis_ev_block_rq_complete, bytes, 12);
	AT(jis_ev_block_rq_complete, error, 16);
	SIZE(jis_ev_signal_generate, 24);
	AT(jis_ev_signal_generate, tid, 0);
	AT(jis_ev_signal_generate, pid, 4);
	AT(jis_ev_signal_generate, signal, 8);
	AT(jis_ev_signal_generate, code, 12);
	AT(jis_ev_signal_generate, sender_tid, 16);
	AT(jis_ev_signal_generate, result, 20);
	SIZE(jis_ev_signal_deliver, 12);
	AT(jis_ev_signal_deliver, tid, 0);
	AT(jis_ev_signal_deliver, signal, 4);
	AT(jis_ev_signal_deliver, code, 8);
	SIZE(jis_ev_cpu_frequency, 8);
	AT(jis_ev_cpu_frequency, cpu, 0);
	AT(jis_ev_cpu_frequency, frequency, 4);
	SIZE(jis_ev_cpu_idle, 8);
	AT(jis_ev_cpu_idle, cpu, 0);
	AT(jis_ev_cpu_idle, state, 4);
}
END_TEST

START_TEST(recorder_events)
{
	SIZE(jis_ev_clock_sync, 44);
	AT(jis_ev_clock_sync, tsc, 0);
	AT(jis_ev_clock_sync, monotonic_raw, 8);
	AT(jis_ev_clock_sync, monotonic, 16);
	AT(jis_ev_clock_sync, boottime, 24);
	AT(jis_ev_clock_sync, realtime, 32);
	AT(jis_ev_clock_sync, uncertainty, 40);
	SIZE(jis_ev_session_mark, 4);
	AT(jis_ev_session_mark, mark, 0);
	SIZE(jis_ev_target_added, 12);
	AT(jis_ev_target_added, pid, 0);
	AT(jis_ev_target_added, flags, 4);
	AT(jis_ev_target_added, comm_length, 8);
	AT(jis_ev_target_added, comm, 12);
	SIZE(jis_ev_target_removed, 4);
	AT(jis_ev_target_removed, pid, 0);
}
END_TEST

START_TEST(user_events)
{
	SIZE(jis_ev_thread_bind, 4);
	AT(jis_ev_thread_bind, tid, 0);
	SIZE(jis_ev_marker, 12);
	AT(jis_ev_marker, type, 0);
	AT(jis_ev_marker, value, 4);
	SIZE(jis_ev_java_marker, 20);
	AT(jis_ev_java_marker, java_tid, 0);
	AT(jis_ev_java_marker, type, 8);
	AT(jis_ev_java_marker, value, 12);
	SIZE(jis_ev_span_begin, 12);
	AT(jis_ev_span_begin, java_tid, 0);
	AT(jis_ev_span_begin, name, 8);
	SIZE(jis_ev_span_end, 12);
	AT(jis_ev_span_end, java_tid, 0);
	AT(jis_ev_span_end, name, 8);
	SIZE(jis_ev_gc_start, 4);
	AT(jis_ev_gc_start, number, 0);
	SIZE(jis_ev_gc_finish, 4);
	AT(jis_ev_gc_finish, number, 0);
	SIZE(jis_ev_vm_phase, 4);
	AT(jis_ev_vm_phase, phase, 0);
}
END_TEST

START_TEST(dictionary_events)
{
	SIZE(jis_ev_string_def, 8);
	AT(jis_ev_string_def, id, 0);
	AT(jis_ev_string_def, text_length, 4);
	AT(jis_ev_string_def, text, 8);
	SIZE(jis_ev_java_thread_start, 24);
	AT(jis_ev_java_thread_start, java_tid, 0);
	AT(jis_ev_java_thread_start, tid, 8);
	AT(jis_ev_java_thread_start, flags, 12);
	AT(jis_ev_java_thread_start, group, 16);
	AT(jis_ev_java_thread_start, name_length, 20);
	AT(jis_ev_java_thread_start, name, 24);
	SIZE(jis_ev_java_thread_end, 12);
	AT(jis_ev_java_thread_end, java_tid, 0);
	AT(jis_ev_java_thread_end, tid, 8);
	SIZE(jis_ev_java_thread_name, 16);
	AT(jis_ev_java_thread_name, java_tid, 0);
	AT(jis_ev_java_thread_name, by_tid, 8);
	AT(jis_ev_java_thread_name, name_length, 12);
	AT(jis_ev_java_thread_name, name, 16);
	SIZE(jis_ev_vm_info, 12);
	AT(jis_ev_vm_info, pid, 0);
	AT(jis_ev_vm_info, version, 4);
	AT(jis_ev_vm_info, text_length, 8);
	AT(jis_ev_vm_info, text, 12);
	SIZE(jis_ev_traced_method, 28);
	AT(jis_ev_traced_method, id, 0);
	AT(jis_ev_traced_method, method, 4);
	AT(jis_ev_traced_method, loader, 8);
	AT(jis_ev_traced_method, flags, 12);
	AT(jis_ev_traced_method, code_bytes, 16);
	AT(jis_ev_traced_method, first_line, 20);
	AT(jis_ev_traced_method, last_line, 24);
	SIZE(jis_ev_method_refused, 8);
	AT(jis_ev_method_refused, method, 0);
	AT(jis_ev_method_refused, why, 4);
}
END_TEST

START_TEST(method_events)
{
	SIZE(jis_ev_method_enter, 4);
	AT(jis_ev_method_enter, method, 0);
	SIZE(jis_ev_method_exit, 4);
	AT(jis_ev_method_exit, method, 0);
	SIZE(jis_ev_methods_changed, 24);
	AT(jis_ev_methods_changed, asked, 0);
	AT(jis_ev_methods_changed, enabled, 4);
	AT(jis_ev_methods_changed, disabled, 8);
	AT(jis_ev_methods_changed, classes, 12);
	AT(jis_ev_methods_changed, pause, 16);
	SIZE(jis_ev_method_off, 24);
	AT(jis_ev_method_off, method, 0);
	AT(jis_ev_method_off, asked, 4);
	AT(jis_ev_method_off, calls, 8);
	AT(jis_ev_method_off, window, 16);
	SIZE(jis_ev_class_waited, 16);
	AT(jis_ev_class_waited, java_tid, 0);
	AT(jis_ev_class_waited, tid, 8);
	AT(jis_ev_class_waited, class_name, 12);
	SIZE(jis_ev_method_probe, 12);
	AT(jis_ev_method_probe, way, 0);
	AT(jis_ev_method_probe, pair, 4);
	SIZE(jis_ev_method_value, 32);
	AT(jis_ev_method_value, method, 0);
	AT(jis_ev_method_value, argument, 4);
	AT(jis_ev_method_value, kind, 8);
	AT(jis_ev_method_value, class_name, 12);
	AT(jis_ev_method_value, length, 16);
	AT(jis_ev_method_value, value, 20);
	AT(jis_ev_method_value, text_length, 28);
}
END_TEST

START_TEST(remote_calls)
{
	SIZE(jis_ev_rmi_invoke, 12);
	AT(jis_ev_rmi_invoke, java_tid, 0);
	AT(jis_ev_rmi_invoke, method, 8);
	SIZE(jis_ev_rmi_call, 52);
	AT(jis_ev_rmi_call, java_tid, 0);
	AT(jis_ev_rmi_call, connection, 8);
	AT(jis_ev_rmi_call, call, 12);
	AT(jis_ev_rmi_call, operation, 16);
	AT(jis_ev_rmi_call, hash, 20);
	AT(jis_ev_rmi_call, object, 28);
	AT(jis_ev_rmi_call, space_unique, 36);
	AT(jis_ev_rmi_call, space_time, 40);
	AT(jis_ev_rmi_call, space_count, 48);
	SIZE(jis_ev_rmi_send, 20);
	AT(jis_ev_rmi_send, java_tid, 0);
	AT(jis_ev_rmi_send, connection, 8);
	AT(jis_ev_rmi_send, call, 12);
	AT(jis_ev_rmi_send, remote_call, 16);
	SIZE(jis_ev_rmi_reply, 16);
	AT(jis_ev_rmi_reply, java_tid, 0);
	AT(jis_ev_rmi_reply, connection, 8);
	AT(jis_ev_rmi_reply, call, 12);
	SIZE(jis_ev_rmi_return, 32);
	AT(jis_ev_rmi_return, java_tid, 0);
	AT(jis_ev_rmi_return, remote_call, 8);
	AT(jis_ev_rmi_return, result, 12);
	AT(jis_ev_rmi_return, uid_unique, 16);
	AT(jis_ev_rmi_return, uid_time, 20);
	AT(jis_ev_rmi_return, uid_count, 28);
	SIZE(jis_ev_rmi_serve, 16);
	AT(jis_ev_rmi_serve, java_tid, 0);
	AT(jis_ev_rmi_serve, connection, 8);
	AT(jis_ev_rmi_serve, call, 12);
	SIZE(jis_ev_rmi_dispatch, 40);
	AT(jis_ev_rmi_dispatch, java_tid, 0);
	AT(jis_ev_rmi_dispatch, method, 8);
	AT(jis_ev_rmi_dispatch, operation, 12);
	AT(jis_ev_rmi_dispatch, object, 16);
	AT(jis_ev_rmi_dispatch, space_unique, 24);
	AT(jis_ev_rmi_dispatch, space_time, 28);
	AT(jis_ev_rmi_dispatch, space_count, 36);
	SIZE(jis_ev_rmi_result, 12);
	AT(jis_ev_rmi_result, java_tid, 0);
	AT(jis_ev_rmi_result, result, 8);
	SIZE(jis_ev_rmi_answer, 32);
	AT(jis_ev_rmi_answer, java_tid, 0);
	AT(jis_ev_rmi_answer, connection, 8);
	AT(jis_ev_rmi_answer, call, 12);
	AT(jis_ev_rmi_answer, uid_unique, 16);
	AT(jis_ev_rmi_answer, uid_time, 20);
	AT(jis_ev_rmi_answer, uid_count, 28);
	SIZE(jis_ev_rmi_connection, 60);
	AT(jis_ev_rmi_connection, id, 0);
	AT(jis_ev_rmi_connection, server, 4);
	AT(jis_ev_rmi_connection, family, 8);
	AT(jis_ev_rmi_connection, local_port, 12);
	AT(jis_ev_rmi_connection, local0, 16);
	AT(jis_ev_rmi_connection, local1, 24);
	AT(jis_ev_rmi_connection, peer_port, 32);
	AT(jis_ev_rmi_connection, peer0, 36);
	AT(jis_ev_rmi_connection, peer1, 44);
	AT(jis_ev_rmi_connection, socket, 52);
	AT(jis_ev_rmi_connection, endpoint_length, 56);
}
END_TEST

START_TEST(constants)
{
	ck_assert_uint_eq(JIS_ABI_VERSION, 4);
	ck_assert_uint_eq(JIS_SCHEMA_VERSION, 3);
	ck_assert_uint_eq(JIS_PACKET_MAGIC, 0xC1FC1FC1);
	ck_assert_uint_eq(JIS_PACKET_HEADER_SIZE, sizeof(struct jis_packet_header));
	ck_assert_uint_eq(JIS_MAX_EVENT_ID, 64);
	ck_assert_uint_eq(JIS_STRING_MAX, 1024);
	ck_assert_uint_eq(JIS_POOL_MAGIC, 0x4c4f4f504a495331);
	ck_assert_uint_eq(sizeof(struct jis_agent_message), 304);
	ck_assert_uint_eq(JIS_MMAP_RING(3), 3ull << 40);
	ck_assert_uint_eq(JIS_PACKET_STATE(7 << 2 | JIS_PACKET_FULL), JIS_PACKET_FULL);
	ck_assert_uint_eq(JIS_PACKET_SLOT(7 << 2 | JIS_PACKET_FULL), 7);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("abi");
	TCase *t = tcase_create("all");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(t, packets);
	tcase_add_test(t, device);
	tcase_add_test(t, pools);
	tcase_add_test(t, kernel_events);
	tcase_add_test(t, system_call_events);
	tcase_add_test(t, rare_kernel_events);
	tcase_add_test(t, recorder_events);
	tcase_add_test(t, user_events);
	tcase_add_test(t, dictionary_events);
	tcase_add_test(t, method_events);
	tcase_add_test(t, remote_calls);
	tcase_add_test(t, constants);
	suite_add_tcase(suite, t);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
