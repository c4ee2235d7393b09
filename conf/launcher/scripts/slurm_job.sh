#!/usr/bin/env bash
# What a job of SLURM does: run a stage's command once on each of its nodes. Options that stand here, the
# user's SBATCH_... variables replace.
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --ntasks-per-node=1
# the same stage never twice at a time: where the one that submitted it died, the next one's job waits
#SBATCH --dependency=singleton
# three minutes before the time limit, to this script alone
#SBATCH --signal=B:USR1@180

first=$(scontrol show hostnames "${SLURM_JOB_NODELIST:-}" 2>/dev/null | head -n 1)
# torchrun reads its options from here; python reads none of them
if [[ ${SLURM_NNODES:-1} -gt 1 ]]; then
    export PET_NNODES=$SLURM_NNODES PET_RDZV_BACKEND=c10d PET_RDZV_ID=$SLURM_JOB_ID
    export PET_RDZV_ENDPOINT=$first:$((20000 + SLURM_JOB_ID % 10000))
else
    export PET_STANDALONE=1
fi
export PET_NPROC_PER_NODE=${SLURM_GPUS_ON_NODE:-1}
export TORCH_ELASTIC_SHUTDOWN_TIMEOUT=150      # seconds in which a training writes its state
[[ ${SLURM_CPUS_PER_TASK:-} ]] && export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK
export AIAYN_LOG=1                             # a line for each line of history

run=$(printf '%s\n' "$@" | sed -n '/\.py$/{n;p;q}')
begun=$(mktemp "logs/.$SLURM_JOB_ID.XXXXXX") || exit 1
trap 'rm -f "$begun"' EXIT
echo "$(date -u +%FT%TZ) job $SLURM_JOB_ID on ${SLURM_JOB_NODELIST:-?}, start $((${SLURM_RESTART_COUNT:-0} + 1)): $*"
srun --kill-on-bad-exit=1 "$@" &
step=$!

# the tasks themselves are told: srun, told, would kill them at once
time_is_up='' told=''
trap 'told=yes time_is_up=yes; scancel --signal=TERM "$SLURM_JOB_ID"' USR1
# cancelled, preempted or requeued: SLURM has told the tasks too
trap 'told=yes' TERM
status=''
until [[ $status ]]; do
    wait "$step"
    status=$?
    [[ $told ]] && status='' told='' # a signal ended the waiting, not the step
done

if [[ $time_is_up && $status -ne 0 ]]; then
    # with nothing new to go on from, the next start would come no further
    saved=$(find scratch -path "scratch/$run-????????????????/resume.safetensors" -newer "$begun" 2>/dev/null)
    if [[ $saved ]]; then
        echo "The state is saved; the job goes back into the queue."
        scontrol requeue "$SLURM_JOB_ID" && exit 0
    fi
    echo "SlurmError: the time limit came first, and nothing was saved to go on from. Raise SBATCH_TIMELIMIT."
fi
exit "$status"
