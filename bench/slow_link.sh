#!/bin/sh
# Runs two processes that communicate over a slow network: two network namespaces of this machine, connected by a link
# with the given Mbit/s each way. Needs root, iproute2 and Open MPI.
#
#   bench/slow_link.sh 1000 build/release/bench/bench_training --size small --threads 1
set -eu
rate=$1
shift

agent=$(mktemp)
remove() {
  ip netns del dragoman1 2>/dev/null || true
  ip netns del dragoman2 2>/dev/null || true
  ip link del dragoman0 2>/dev/null || true
  rm -f "$agent"
}
remove
trap remove EXIT

ip link add dragoman0 type bridge
ip addr add 10.77.0.254/24 dev dragoman0
ip link set dragoman0 up
for i in 1 2; do
  ip netns add dragoman$i
  ip link add dragoman0-$i type veth peer name eth netns dragoman$i
  ip link set dragoman0-$i master dragoman0 up
  ip netns exec dragoman$i ip addr add 10.77.0.$i/24 dev eth
  ip netns exec dragoman$i ip link set eth up
  ip netns exec dragoman$i ip link set lo up
  ip netns exec dragoman$i tc qdisc add dev eth root tbf rate "${rate}mbit" burst 256kb latency 50ms
done

# How mpirun reaches the two "machines", which have host names of their own: the address identifies them.
cat > "$agent" <<'AGENT'
#!/bin/sh
name=dragoman${1##*.}
shift
exec ip netns exec "$name" unshare --uts sh -c "hostname $name; $*"
AGENT
chmod +x "$agent"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpirun -np 2 --host 10.77.0.1,10.77.0.2 --mca plm_rsh_agent "$agent" --bind-to none --mca btl tcp,self \
  --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 "$@"
