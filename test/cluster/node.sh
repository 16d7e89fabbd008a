#!/usr/bin/env bash
# Runs a Kubernetes of one node: node.sh start DIR, node.sh stop DIR. It builds Kubernetes from Go's module proxy into
# DIR, which takes ten minutes of processor time once. etcd, containerd, runc, the network plugins and podman
# come from Debian. There is no DNS and no kube-proxy: pods are reached by their addresses.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "${2:?usage: node.sh start|stop DIR}"
dir=$(cd "$2" && pwd)
cd "$dir"
version=34.1
programs=(kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl)
kubectl() { bin/kubectl --kubeconfig kubeconfig "$@"; }

build() {
  local part module=k8s.io/component-base/version
  mkdir -p src bin
  {
    printf 'module node\n\ngo 1.26\n\nrequire k8s.io/kubernetes v1.%s\n\n' "$version"
    # Kubernetes refers to these modules by directories of its repository.
    for part in api apiextensions-apiserver apimachinery apiserver cli-runtime client-go cloud-provider \
      cluster-bootstrap code-generator component-base component-helpers controller-manager cri-api cri-client \
      csi-translation-lib dynamic-resource-allocation endpointslice externaljwt kms kube-aggregator \
      kube-controller-manager kube-proxy kube-scheduler kubectl kubelet metrics mount-utils pod-security-admission \
      sample-apiserver sample-cli-plugin sample-controller; do
      printf 'replace k8s.io/%s => k8s.io/%s v0.%s\n' "$part" "$part" "$version"
    done
  } >src/go.mod
  {
    printf '//go:build tools\n\npackage node\n\nimport (\n'
    printf '\t_ "k8s.io/kubernetes/cmd/%s"\n' "${programs[@]}"
    echo ')'
  } >src/tools.go
  cd src
  export GOFLAGS="" CGO_ENABLED=0
  nice go mod tidy
  nice go build -trimpath -o ../bin/ \
    -ldflags "-s -w -X $module.gitVersion=v1.$version -X $module.gitMajor=1 -X $module.gitMinor=34" \
    "${programs[@]/#/k8s.io/kubernetes/cmd/}"
}

# run starts a program in the background.
run() {
  local name=$1
  shift
  setsid "$@" >"$name.log" 2>&1 </dev/null &
  echo $! >"$name.pid"
}

end() {
  local pid
  for name in "$@"; do
    [ -f "$name.pid" ] || continue
    pid=$(<"$name.pid")
    kill "$pid" 2>/dev/null || true
    while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
    rm -f "$name.pid"
  done
}

wait_for() {
  for _ in {1..90}; do
    "$@" >/dev/null 2>&1 && return
    sleep 1
  done
  echo "node.sh: no success: $*; see $dir/*.log" >&2
  exit 1
}

stop() {
  local task
  kubectl delete deployment,pod --all -A --timeout=60s >/dev/null 2>&1 || true
  end kubelet controllers scheduler apiserver
  if [ -f containerd.pid ]; then
    for task in $(ctr -a "$dir/containerd.sock" -n k8s.io task ls -q); do
      ctr -a "$dir/containerd.sock" -n k8s.io task kill -s 9 "$task" || true
    done
  fi
  end containerd etcd
  awk -v dir="$dir/" 'index($2, dir) == 1 { print $2 }' /proc/mounts | xargs -r umount -l
  ip link delete mcpbash0 2>/dev/null || true
  rm -rf etcd kubelet
}

start() {
  [ -x bin/kubectl ] || (build) >build.log 2>&1
  rm -rf cni
  mkdir -p cni pause
  cat >containerd.toml <<END
version = 2
root = "$dir/root"
state = "$dir/state"
[grpc]
  address = "$dir/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$dir/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
      BinaryName = "$here/oci-runtime.sh"
END
  cat >cni/10-bridge.conflist <<'END'
{"cniVersion": "0.4.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "mcpbash0", "isGateway": true,
   "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.88.78.0/24"}]]}}]}
END
  cat >kubelet.yaml <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: cgroupfs
failSwapOn: false
failCgroupV1: false
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
containerRuntimeEndpoint: unix://$dir/containerd.sock
enforceNodeAllocatable: []
evictionHard: {memory.available: 100Mi} # and not because the disk of a developer is nearly full
imageGCHighThresholdPercent: 100
END
  cat >kubeconfig <<'END'
apiVersion: v1
kind: Config
clusters: [{name: node, cluster: {server: "https://127.0.0.1:16443", insecure-skip-tls-verify: true}}]
users: [{name: admin, user: {token: admin}}]
contexts: [{name: node, context: {cluster: node, user: admin}}]
current-context: node
END
  echo admin,admin,admin,system:masters >users.csv
  [ -f accounts.key ] || openssl genrsa -out accounts.key 2048 2>/dev/null
  run etcd etcd --data-dir "$dir/etcd" --listen-client-urls http://127.0.0.1:12379 \
    --advertise-client-urls http://127.0.0.1:12379 --listen-peer-urls http://127.0.0.1:12380
  run apiserver bin/kube-apiserver --etcd-servers http://127.0.0.1:12379 --cert-dir "$dir/certificates" \
    --service-account-key-file accounts.key --service-account-signing-key-file accounts.key \
    --service-account-issuer https://kubernetes.default.svc --token-auth-file users.csv \
    --authorization-mode AlwaysAllow --disable-admission-plugins ServiceAccount --bind-address 127.0.0.1 \
    --secure-port 16443 --service-cluster-ip-range 10.0.0.0/24 --kubelet-preferred-address-types InternalIP
  run containerd containerd -c containerd.toml
  wait_for kubectl get --raw /readyz
  # The container that holds a pod's network only waits for its end.
  cat >pause/main.go <<'END'
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	<-ended
}
END
  CGO_ENABLED=0 go build -o pause/pause pause/main.go
  printf 'FROM scratch\nCOPY pause /pause\nENTRYPOINT ["/pause"]\n' >pause/Containerfile
  podman build -q -t localhost/pause:1 pause >/dev/null
  rm -f pause.tar
  podman save -q -o pause.tar localhost/pause:1
  ctr -a "$dir/containerd.sock" -n k8s.io images import pause.tar >/dev/null
  run kubelet bin/kubelet --config kubelet.yaml --kubeconfig kubeconfig --root-dir "$dir/kubelet" \
    --hostname-override node1
  run scheduler bin/kube-scheduler --kubeconfig kubeconfig --secure-port 0 --leader-elect=false
  run controllers bin/kube-controller-manager --kubeconfig kubeconfig --secure-port 0 --leader-elect=false \
    --service-account-private-key-file accounts.key
  wait_for kubectl wait --for=condition=Ready node/node1 --timeout=1s
  echo "$dir/kubeconfig"
}

case $1 in
  start) start ;;
  stop) stop ;;
  *) echo "usage: node.sh start|stop DIR" >&2 && exit 2 ;;
esac
