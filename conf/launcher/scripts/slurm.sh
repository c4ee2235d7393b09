#!/usr/bin/env bash
# Submit a stage as a job of SLURM and wait for its end: slurm.sh NAME [OPTION OF SBATCH ...] -- COMMAND ...
# Runs on a login node, in the folder of the scale, which the nodes see under the same path. Ends with the
# job's status; the last line says why where that is not 0. If this process ends first, the job goes on,
# and the same job submitted again waits for it (slurm_job.sh).
fail() {
    echo "SlurmError: $*" >&2
    exit 1
}

# two copies of the project must not wait for each other
name=$1.$(pwd -P | cksum | cut -d' ' -f1)
shift
options=()
while [[ $1 != -- ]]; do
    [[ $1 == --gpus-per-node=0 ]] && without_gpus=yes
    [[ ${without_gpus:-} && $1 == --*-per-gpu=* ]] || options+=("$1")
    shift
done
shift
type -P sbatch >/dev/null ||
    fail "there is no sbatch here. Start from a login node of the cluster, or set launcher=here."
mkdir -p logs || exit 1

said=$(mktemp) || exit 1
trap 'rm -f "$said"' EXIT
sbatch --wait --job-name="$name" --output="logs/%x.%j.log" "${options[@]}" \
    "$(dirname "$0")/slurm_job.sh" "$@" >"$said" 2>&1 &
trap 'echo "The job of $name goes on; scancel --me --name=$name ends it." >&2; exit 143' TERM
wait $!
status=$?
job=$(sed -nE 's/^Submitted batch job ([0-9]+).*/\1/p' "$said")
# of a job whose record is gone, it knows no status and says 0: whether its outputs are there, DVC looks
grep -v "^Submitted batch job" "$said" >&2
[[ $status -eq 0 ]] && exit 0
[[ -n $job ]] || fail "$(sed -E 's/^sbatch: (error: )?//' "$said" | tail -n 1). Nothing was submitted."

log=logs/$name.$job.log
state=$(scontrol show job --oneliner "$job" 2>/dev/null | sed -nE 's/.* JobState=([A-Z_]+).*/\1/p')
# of several processes, all but one only lost another
reason=$(grep -E '^[A-Za-z]*(Error|Exception|Interrupt)\b' "$log" 2>/dev/null |
    grep -v ' lost another one; the cause is in ' | tail -n 1)
case $state in
TIMEOUT) reason="its time was up. Raise SBATCH_TIMELIMIT." ;;
CANCELLED) reason="it was cancelled." ;;
esac
reason=${reason#SlurmError: }
fail "job $job ended as ${state:-one that SLURM has forgotten}: ${reason:-no error in its log.} ($log)"
