#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A trace can be read by its owner, and under sudo by the group of who called that, and by nobody else; so can
# snapshots, and what recovery makes. The umask takes rights away.
. "$(dirname "$0")/lib.sh"
need_root
cd "$TESTDIR" || exit 1
chmod 755 .
install -m 755 "$JIS" jis

# modes TRACE: "MODE GROUP PATH" of all there is, sorted
modes() { find "$1" -printf '%m %G %P\n' | sort -k 3; }
reads() { # TRACE COMMAND...: can it read all there is?
	local t=$1
	shift
	"$@" "$PWD/jis" info -q "$t" >/dev/null 2>&1
}
user=(setpriv --reuid 4001 --regid 4002 --clear-groups)
outsider=(setpriv --reuid 4003 --regid 4003 --clear-groups)

umask 022
"${RECORD[@]}" -q -o plain -- "$TESTPROG/brood" 2
modes plain >plain.modes
cat plain.modes
! grep -vE '^(750|640) 0 ' plain.modes || fail "other modes than 750 and 640"
! reads plain "${outsider[@]}" || fail "anybody can read it"
! reads plain "${user[@]}" || fail "anybody can read it"

env SUDO_UID=0 SUDO_GID=4002 "${RECORD[@]}" -q -o shared --flight-recorder -- "$TESTPROG/ticker" ticks &
recorder=$!
wait_for 60 test -s ticks
"$JIS" snapshot -q -o snapshot shared || fail "no snapshot"
touch ticks.end
wait $recorder || fail "the recording failed"
for t in shared snapshot; do
	modes $t >$t.modes
	! grep -vE '^(2?750|640) 4002 ' $t.modes || fail "$t: other modes or groups: $(cat $t.modes)"
	reads $t "${user[@]}" || fail "$t: who called sudo cannot read it: $(cat $t.modes)"
	! reads $t "${outsider[@]}" || fail "$t: anybody can read it"
done

# What recovery writes
cut=$(find shared -name 'cpu-*' -size +0 | head -n 1)
truncate -s -4 "$cut"
"$JIS" recover -q shared || fail "no recovery"
modes shared >shared.modes
! grep -vE '^(2?750|640) 4002 ' shared.modes || fail "after recovery: $(cat shared.modes)"
reads shared "${user[@]}" || fail "who called sudo cannot read what is recovered"

umask 077
"${RECORD[@]}" -q -o private -- true
! modes private | grep -vE '^(700|600) ' || fail "the umask does not count: $(modes private)"
