#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Three hosts, each a network namespace with a recording of its own, call each other in a chain and back; jis merge makes one
# trace of them. Recorded on one clock, then given others (offset, drift, a step), unknown to the merger: each moment of each
# call is where it was, as exactly as the trace says; no call is served outside of its client's; nothing else has changed.
. "$(dirname "$0")/lib.sh"
need_root

NET=jis$$ PIDS=() INPUTS=()
cleanup() {
	[ ${#PIDS[@]} = 0 ] || kill "${PIDS[@]}" || true
	wait
	for name in hub a b c; do ip netns del "$NET$name" 2>/dev/null || true; done
}
trap cleanup EXIT

# Three hosts at one bridge.
ip netns add "${NET}hub"
ip -n "${NET}hub" link add bridge type bridge
ip -n "${NET}hub" link set bridge up
number=1
for name in a b c; do
	ip netns add "$NET$name"
	ip -n "$NET$name" link add eth0 type veth peer name "port$name" netns "${NET}hub"
	ip -n "${NET}hub" link set "port$name" master bridge up
	ip -n "$NET$name" addr add "10.9.0.$number/24" dev eth0
	ip -n "$NET$name" link set eth0 up
	ip -n "$NET$name" link set lo up
	number=$((number + 1))
done

recorded() { # HOST ADDRESS REGISTRY NAME ARG...
	local net=$1 address=$2 registry=$3 name=$4
	shift 4
	exec nsenter --net="/run/netns/$NET$net" "${RECORD[@]}" -q -o "$TESTDIR/$net" --name "$name" -- "$JAVA" -Djava="$JAVA" \
		-Djava.rmi.server.hostname="$address" -Dregistry="$registry" -Down="$address" -cp "$CLASSES:$MARKERS" "$@"
}
server() { # HOST ADDRESS REGISTRY NAME NEXT PORT
	mkfifo "$TESTDIR/in.$4"
	(recorded "$1" "$2" "$3" "$4" RemoteCalls server tcp "$4" "$5" "$6") <"$TESTDIR/in.$4" >"$TESTDIR/$4.out" 2>"$TESTDIR/$4.err" &
	PIDS+=($!)
	exec {input}>"$TESTDIR/in.$4"
	INPUTS+=("$input")
	wait_for 60 grep -q '^PORT' "$TESTDIR/$4.out"
}
server c 10.9.0.3 10.9.0.3 s2 - 0
server b 10.9.0.2 10.9.0.3 s1 s2 "$(sed -n 's/^PORT //p' "$TESTDIR/s2.out")"
(recorded a 10.9.0.1 10.9.0.2 client -Dport="$(sed -n 's/^PORT //p' "$TESTDIR/s1.out")" RemoteCalls tcp 2 3 300 back) >"$TESTDIR/client.out" 2>"$TESTDIR/client.err" ||
	{ cat "$TESTDIR/client.err"; fail "the client ended with $?"; }
grep -q '^END$' "$TESTDIR/client.out" || fail "the client did not end"
for input in "${INPUTS[@]}"; do exec {input}>&-; done
wait "${PIDS[@]}"
PIDS=()

# All calls are linked, in the right order; readers take the merged trace as any other.
check() { # NAME RECORDED... (as hosts.py has them)
	local out=$TESTDIR/$1
	shift
	python3 "$CHECKERS/hosts.py" "$out" "$@" || fail "$out: not what was recorded"
	"$JIS" rmi -q --json --internal "$out" >"$out.rmi"
	python3 - "$out.rmi" "$TESTDIR/client.out" <<'PY' || fail "$out: the calls"
import json, sys
rmi, wrong = json.load(open(sys.argv[1])), 0
said = {k: int(v) for k, v in (w.split("=") for w in next(l for l in open(sys.argv[2]) if l.startswith("CALLS ")).split()[1:])}
calls = sum(l["calls"] for l in rmi["lines"] if any(n in l["method"] for n in ("Chain.call", "Back.back")))
for what, got, want in (("linked", rmi["matches"]["UID"], rmi["calls"]), ("backward", rmi["backward"], 0),
                        ("disagreements", rmi["disagreements"], 0), ("calls", calls, said["returned"])):
    if got != want:
        wrong += 1
        print(f"{what}: {got}, expected {want}")
sys.exit(wrong > 0)
PY
	"$JIS" info --strict "$out" >"$out.info" || fail "$out: jis info --strict ended with $?"
	"$JIS" tree -q --json --internal "$out" >"$out.tree"
	[ "$(grep -c '"kind":"served"' "$out.tree")" = "$(grep -c '"kind":"remote"' "$out.tree")" ] || fail "$out: the tree"
	"$JIS" report -q --json "$out" >"$out.report"
	"$JIS" export paraver -q "$out" -o "$out.prv"
	python3 "$CHECKERS/prv_check.py" --contradictions "$out.prv" || fail "$out: the Paraver files break a rule"
}
expect_status 0 "$JIS" merge "$TESTDIR/a" "$TESTDIR/b" "$TESTDIR/c" -o "$TESTDIR/same"
expect_says "the same clock as $TESTDIR/a"
check same "$TESTDIR/a" "$TESTDIR/b" "$TESTDIR/c"

for name in b c; do
	cp -a "$TESTDIR/$name" "$TESTDIR/$name.fake"
	cp -a "$TESTDIR/$name" "$TESTDIR/$name.step"
done
python3 "$CHECKERS/fake_clock.py" "$TESTDIR/b.fake" beta 1 -20
python3 "$CHECKERS/fake_clock.py" "$TESTDIR/c.fake" gamma 3600.5 35
expect_status 0 "$JIS" merge "$TESTDIR/a" "$TESTDIR/b.fake" "$TESTDIR/c.fake" -o "$TESTDIR/drift"
expect_says " calls with "
check drift "$TESTDIR/a:0:0" "$TESTDIR/b:-20:0" "$TESTDIR/c:35:0"

# A clock that is set while calls are under way: when half of them are over.
at=$(python3 - "$TESTDIR/b" "$CHECKERS" <<'PY'
import json, os, sys
sys.path.insert(0, sys.argv[2])
from ctf import events
m = json.load(open(sys.argv[1] + "/manifest.json"))
d = next(p["directory"] for p in m["processes"] if p.get("directory"))
times = sorted(t for t, name, _ in events(os.path.join(sys.argv[1], d)) if name == "rmi_answer")
print((times[len(times) // 2] - m["begin"]) / m["frequency"])
PY
)
python3 "$CHECKERS/fake_clock.py" "$TESTDIR/b.step" beta 0.25 -20 0.05 "$at"
python3 "$CHECKERS/fake_clock.py" "$TESTDIR/c.step" gamma 0 35
expect_status 0 "$JIS" merge "$TESTDIR/a" "$TESTDIR/b.step" "$TESTDIR/c.step" -o "$TESTDIR/step"
expect_says "was set between"
grep -E 'was set between .* it went (49|50)\.[0-9]+ ms forward' "$TESTDIR/err" >"$TESTDIR/said" || { cat "$TESTDIR/err"; fail "the step"; }
check step "$TESTDIR/a:0:0" "$TESTDIR/b:-20:1" "$TESTDIR/c:35:0"

# No call leads to it: by its time of day, and said so.
"${RECORD[@]}" -q -o "$TESTDIR/alone" -- sleep 0.2
python3 "$CHECKERS/fake_clock.py" "$TESTDIR/alone" delta 5 0
expect_status 0 "$JIS" merge "$TESTDIR/a" "$TESTDIR/alone" -o "$TESTDIR/two"
expect_says "no remote call leads to another session"

# What is missing at the end of a stream is missing still; so is a stream of a CPU that its host has not.
cp -a "$TESTDIR/b" "$TESTDIR/b.cut"
python3 - "$TESTDIR/b.cut" <<'PY'
import json, os, struct, sys
path = sys.argv[1] + "/kernel/cpu-0"
data, at = open(path, "rb").read(), 0
while at < len(data):
    last, at = at, at + struct.unpack_from("<Q", data, at + 56)[0] // 8
os.truncate(path, last)
name = sys.argv[1] + "/manifest.json"
m = json.load(open(name))
for s in m["streams"]:
    if s["path"] == "kernel/recorder":
        s["class"], s["instance"] = 0, m["cpus"]
json.dump(m, open(name, "w"))
PY
expect_status 0 "$JIS" merge "$TESTDIR/a" "$TESTDIR/b.cut" -o "$TESTDIR/cut"
"$JIS" info "$TESTDIR/cut" >"$TESTDIR/cut.info" || true
grep -E "^kernel/cpu-$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["cpus"])' "$TESTDIR/a/manifest.json") .*packets are missing" "$TESTDIR/cut.info" >"$TESTDIR/said" || { cat "$TESTDIR/cut.info"; fail "what is missing at the end"; }
grep "a CPU that its host has not" "$TESTDIR/cut.info" >"$TESTDIR/said" || { cat "$TESTDIR/cut.info"; fail "a stream of no CPU"; }

# What cannot be put together.
expect_status 1 "$JIS" merge "$TESTDIR/a" "$TESTDIR/same" -o "$TESTDIR/x"
expect_says "is made of several sessions itself"
expect_status 1 "$JIS" merge "$TESTDIR/a" "$TESTDIR/a" -o "$TESTDIR/x"
expect_says "is there twice"
expect_status 1 "$JIS" merge "$TESTDIR/a" "$TESTDIR" -o "$TESTDIR/x"
expect_says "no trace in it"
expect_status 1 "$JIS" merge "$TESTDIR/a" "$TESTDIR/b" -o "$TESTDIR/same"
expect_says "not empty"
expect_status 2 "$JIS" merge "$TESTDIR/a" -o "$TESTDIR/x"
expect_says "two trace directories"
expect_status 2 "$JIS" merge "$TESTDIR/a" "$TESTDIR/b"
[ ! -e "$TESTDIR/x" ] || fail "what failed left something"
sed -i 's/"machine": *"[^"]*"/"machine": "sparc64"/' "$TESTDIR/b.fake/manifest.json"
expect_status 1 "$JIS" merge "$TESTDIR/a" "$TESTDIR/b.fake" -o "$TESTDIR/x"
expect_says "another kind of machine"
