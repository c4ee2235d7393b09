"""A fake SLURM for tests: sbatch, srun, scontrol and scancel in one file, which acts as the program
whose name it is called by. Its state is files in $FAKE_SLURM: of job 1, `1.script` and `1.step` have the
processes' ids, `1.requeue` requests a requeue, and `1.state` has the job's final state.

$FAKE_SLURM_FORGETS: the record of a job is deleted when it ends. $FAKE_SLURM_REFUSES: no job is accepted.
"""

import fcntl
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

HERE = Path(os.environ["FAKE_SLURM"])


def sbatch(arguments: list[str]) -> int:
    if os.environ.get("FAKE_SLURM_REFUSES"):
        print("sbatch: error: Batch job submission failed: Invalid account", file=sys.stderr)
        return 1
    number = next(n for n, word in enumerate(arguments) if not word.startswith("-"))
    script, rest = Path(arguments[number]), arguments[number + 1 :]
    directives = re.findall(r"^#SBATCH (\S+)", script.read_text(), re.M)
    options = dict(
        word.removeprefix("--").partition("=")[::2] for word in directives + arguments[:number]
    )
    assert {"wait", "requeue"} <= {*options}
    job = str(1 + len(list(HERE.glob("*.job"))))
    (HERE / f"{job}.job").write_text(" ".join(sys.argv))
    print(f"Submitted batch job {job}", flush=True)
    with (HERE / f"{options['job-name']}.lock").open("w") as lock:
        if options["dependency"] == "singleton":
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                (HERE / f"{job}.waits").touch()
                fcntl.flock(lock, fcntl.LOCK_EX)
        status = run(job, options, script, rest)
    if os.environ.get("FAKE_SLURM_FORGETS"):
        (HERE / f"{job}.state").unlink()
        print(f"sbatch: error: Job {job} no longer found and exit code not found", file=sys.stderr)
        return 0
    return status


def run(job: str, options: dict[str, str], script: Path, arguments: list[str]) -> int:
    """Run the job until it is not requeued."""
    output = options["output"].replace("%x", options["job-name"]).replace("%j", job)
    for start in range(9):
        environment = os.environ | {
            "SLURM_JOB_ID": job, "SLURM_JOB_NAME": options["job-name"], "SLURM_NNODES": "1",
            "SLURM_JOB_NODELIST": "here", "SLURM_RESTART_COUNT": str(start),
        }  # fmt: skip
        with Path(output).open("a" if options["open-mode"] == "append" else "w") as log:
            process = subprocess.Popen(
                ["bash", script, *arguments],
                env=environment, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        (HERE / f"{job}.script").write_text(str(process.pid))
        status = process.wait()
        if not (HERE / f"{job}.requeue").exists():
            break
        (HERE / f"{job}.requeue").unlink()
    if not (HERE / f"{job}.state").exists():
        (HERE / f"{job}.state").write_text("FAILED" if status else "COMPLETED")
    return status if status >= 0 else 1


def srun(arguments: list[str]) -> int:
    """In SLURM a task is not a child of srun; so its process is separate here too."""
    assert "--kill-on-bad-exit=1" in arguments
    command = [word for word in arguments if not word.startswith("--kill")]
    step = subprocess.Popen(command, start_new_session=True)
    partial = HERE / f"{os.environ['SLURM_JOB_ID']}.partial"
    partial.write_text(str(step.pid))
    partial.rename(partial.with_suffix(".step"))
    status = step.wait()
    return status if status >= 0 else 128 - status


def scontrol(arguments: list[str]) -> int:
    match arguments:
        case ["requeue", job]:
            (HERE / f"{job}.requeue").touch()
        case ["show", "job", "--oneliner", job]:
            state = HERE / f"{job}.state"
            if not state.exists():
                print("slurm_load_jobs error: Invalid job id specified", file=sys.stderr)
                return 1
            print(f"JobId={job} JobName=name JobState={state.read_text()} Reason=None")
        case ["show", "hostnames", nodes]:
            print(nodes)
        case _:
            raise AssertionError(arguments)
    return 0


def scancel(arguments: list[str]) -> int:
    """With a signal, send it to the job's tasks; without one, kill the whole job."""
    *options, job = arguments
    if options:
        number = signal.Signals["SIG" + options[0].removeprefix("--signal=")]
        processes = ["step"]
    else:
        number, processes = signal.SIGKILL, ["step", "script"]
        (HERE / f"{job}.state").write_text("CANCELLED")
    for name in processes:
        with suppress(ProcessLookupError):
            os.kill(int((HERE / f"{job}.{name}").read_text()), number)
    return 0


if __name__ == "__main__":
    sys.exit(globals()[Path(sys.argv[0]).name](sys.argv[1:]))
