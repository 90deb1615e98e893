import type { ParentCall, Phase, RunStatus } from '../core/index.ts';
import type { BillableAction } from '../ports/billable-actions.ts';
import type { EventRow, PayloadRow } from './encode.ts';

/** The row of a run after the events of an entry: the columns of `runs` that change. Times in ms since the epoch. */
export type RunProjection = {
  status: RunStatus;
  phase: Phase;
  stepsDone: number;
  stepsSkipped: number;
  pendingTasks: number;
  endedAt: number | null;
  /** JSON text, or null. */
  error: string | null;
  nextTimerAt: number | null;
  lastSeq: number;
  /** Microcredits charged for its attempts so far. */
  credits: number;
};

/** The columns of `runs` that never change, given with a run's first events. */
export type NewRun = {
  tenantId: string;
  projectId: string;
  workflowId: string;
  version: number;
  sessionId: string;
  triggerType: string;
  startedBy: string;
  startedAt: number;
  stepsTotal: number;
  /** The person whose daily limit the run counts towards; absent: no person. */
  spenderId?: string;
  /** The run that it repeats or continues; absent: none. */
  rerunOf?: string;
  /** The step that called it; absent for a run that no step called. */
  parent?: ParentCall;
  /** The run at the top of the runs that led to it; absent for a run that no other run started. */
  root?: string;
};

export type TaskState = 'pending' | 'completed' | 'timed_out' | 'cancelled';

/** A human task that was asked for (`asked` is set), its end, or both, because both may happen between two commits. */
export type TaskChange = {
  step: string;
  state: TaskState;
  approved: boolean | null;
  completedBy: string | null;
  completedAt: number | null;
  asked: {
    tenantId: string;
    projectId: string;
    workflowId: string;
    name: string;
    instructions: string;
    /** The part of the instructions for people who may answer but not read the run; absent: they do not see the task. */
    toDecide?: string;
    /** JSON text, or null. */
    form: string | null;
    assignees: string[];
    createdAt: number;
    dueAt: number | null;
  } | null;
};

/** The actions in `run_usage`: charged usage, and the starts and ends of runs, which cost nothing. */
export type UsageAction = BillableAction | 'run_started' | 'run_ended';

/** One countable action, written in the commit of the event that records it. */
export type UsageRow = {
  action: UsageAction;
  /** Empty for an action of the run itself. */
  stepType: string;
  /** The tool of a tool call, the model of tokens, the trigger of a run's start; else empty. */
  subject: string;
  /** workflow_step: completed | failed | retried. run_ended: completed | failed | stopped. Else empty. */
  outcome: string;
  quantity: number;
  /** Microcredits per unit. */
  price: number;
  /** The values after the run's id in its line: step, attempt and quantity; the duration of a run in ms; or none. */
  line: readonly (string | number)[];
  /** ms since the epoch. */
  at: number;
};

/** A value for finding the run, under the name of its field. */
export type SearchValue = { name: string; value: string };

/** The owner of the usage. */
export type UsageOwner = { tenantId: string; projectId: string; workflowId: string };

/**
 * The entry that one run appends: all of it is committed, or nothing. A run has at most one entry in progress, so no
 * batch contains two entries of the same run.
 */
export type LogEntry = {
  runId: string;
  rows: readonly EventRow[];
  payloads: readonly PayloadRow[];
  /**
   * Null if only the progress changed (`stepsDone`, `stepsSkipped`, `lastSeq`), which may be written later; never null with `created`.
   */
  projection: RunProjection | null;
  /** Present in a run's first entry. */
  created?: NewRun;
  tasks: readonly TaskChange[];
  /** Values of searchable fields, each name once; absent in most entries. `startedAt`: of the run, in ms. */
  search?: { startedAt: number; values: readonly SearchValue[] };
  owner: UsageOwner;
  /** The name that usage is attributed to: storable text of at most 300 characters. */
  startedBy: string;
  /** The total of these rows is what this commit charges the workspace. */
  usage: readonly UsageRow[];
};

/** Returns the approximate size of an entry in memory and on the wire, in bytes. */
export function entryBytes(entry: LogEntry): number {
  let bytes = 256;
  for (const row of entry.rows) bytes += 128 + row.json.length;
  bytes += 128 * entry.usage.length;
  for (const { value } of entry.search?.values ?? []) bytes += 128 + value.length;
  for (const payload of entry.payloads) bytes += 128 + payload.json.length;
  return bytes;
}
