#!/usr/bin/env bash
# Run a command on a GPU of this machine that no other such command has: one_gpu.sh GPUS COMMAND ...
# A GPU is taken by a lock on a file, which goes with the process, however it ends. Where
# CUDA_VISIBLE_DEVICES names GPUs, these are the machine's.
gpus=$1
shift
if [[ ! $gpus -gt 0 ]]; then
    echo "LauncherError: launcher.gpus is $gpus: there is no GPU to give. Raise it, or set launcher=here." >&2
    exit 1
fi
IFS=, read -ra visible <<<"${CUDA_VISIBLE_DEVICES:-$(seq -s, 0 $((gpus - 1)))}"
folder=${TMPDIR:-/tmp}/aiayn-gpus-$(id -u)
mkdir -p "$folder" || exit 1
while :; do
    for gpu in "${visible[@]:0:gpus}"; do
        exec {lock}>"$folder/$gpu" || exit 1
        if flock --nonblock "$lock"; then
            CUDA_VISIBLE_DEVICES=$gpu exec "$@"
        fi
        exec {lock}>&-
    done
    sleep 1
done
