# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Slurm's configuration for a cluster."""

from __future__ import annotations

from pathlib import Path

from node import CLOCK, CLOCK_LIBRARY, Node

# A node that was down comes back by itself. A job that was lost with it may start again once its
# credential has expired.
SETTINGS = """\
ClusterName=tarpon
SlurmctldHost={controller}({address})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=cred_expire=10
StateSaveLocation=/run/slurmctld
SlurmdSpoolDir=/run/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
TaskProlog=/etc/slurm/task-prolog
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=128
GresTypes=gpu
PropagateResourceLimits=NONE
SlurmdParameters=config_overrides
ReturnToService=2
MailProg=/bin/true
MessageTimeout=5
TCPTimeout=2
SlurmctldTimeout=10
SlurmdTimeout={seconds_to_down}
InactiveLimit=0
KillWait=2
UnkillableStepTimeout=10
BatchStartTimeout=10
CompleteWait=0
MinJobAge=600
TreeWidth=100
MaxArraySize=10001
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,sched_min_interval=100000,bf_interval=1,batch_sched_delay=0
SlurmctldDebug=info
SlurmdDebug=info
"""

# Its output becomes the environment of jobs.
TASK_PROLOG = f"""\
#!/bin/sh
[ ! -e {CLOCK} ] || echo export LD_PRELOAD={CLOCK_LIBRARY}
"""


def describe_node(node: Node) -> str:
    spec = node.spec
    words = [
        f"NodeName={node.name}",
        f"NodeAddr={node.address}",
        f"CPUs={spec.cpus} Boards=1 SocketsPerBoard=1 CoresPerSocket={spec.cpus} ThreadsPerCore=1",
        # A tenth is left to the system.
        f"RealMemory={spec.memory * 9 // 10 >> 20}",
        f"Feature={','.join(spec.features)}",
    ]
    if spec.gpus:
        words.append("Gres=" + ",".join(f"gpu:{kind}:{count}" for kind, count in spec.gpus.items()))
    # What needs no GPU goes where there is none, as long as there is room.
    return " ".join([*words, f"Weight={10 if spec.gpus else 1}", "State=UNKNOWN"])


def write_configuration(folder: Path, controller: Node, nodes: list[Node], seconds_to_down: int) -> None:
    settings = SETTINGS.format(
        controller=controller.name, address=controller.address, seconds_to_down=seconds_to_down
    )
    lines = [describe_node(node) for node in nodes]
    lines.append("PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP")
    (folder / "slurm.conf").write_text(settings + "\n".join(lines) + "\n")
    devices = [
        f"NodeName={node.name} Name=gpu Type={kind} File={file} Flags=amd_gpu_env\n"
        for node in nodes for kind, files in node.spec.devices.items() for file in files
    ]
    (folder / "gres.conf").write_text("AutoDetect=off\n" + "".join(devices))
    (folder / "cgroup.conf").write_text("")
    prolog = folder / "task-prolog"
    prolog.write_text(TASK_PROLOG)
    prolog.chmod(0o755)
