import type { StepResult } from './stored-value.ts';

/**
 * The facts a run is made of (docs/specification/events.md#event-types). The log stores them, `evolve` folds them,
 * the API shows them. Adding an optional field is safe; anything else needs a new event type, since old logs are
 * replayed by new code.
 */
export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | { [key: string]: JsonValue };
export type JsonMap = { [key: string]: JsonValue };

export const RUN_STATUSES = ['running', 'paused', 'completed', 'failed', 'stopped'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];
export const PHASES = ['starting', 'executing', 'blocked', 'paused', 'draining', 'complete'] as const;
export type Phase = (typeof PHASES)[number];
/**
 * `not_approved`: a call that an agent wanted to make, and that a person has not approved. `not_repeated`: the step was in doubt, and is
 * not to be repeated; unlike every other step that is skipped, it has begun.
 */
export type SkipReason =
  | 'blocked'
  | 'out_of_scope'
  | 'step_disabled'
  | 'branch_not_taken'
  | 'run_stopped'
  | 'not_approved'
  | 'not_repeated';
/**
 * `step_failed`: another step failed, and with it the item or the parent that this step belongs to; the run may go on.
 * `limit_reached`: the time of the agent is up, and it answers with what it has.
 */
export type CancelReason = 'run_failed' | 'RUN_STOPPED' | 'step_failed' | 'limit_reached';
export type OnTimeout = 'fail' | 'approve' | 'reject';

/** The error of an attempt. `code` is stable snake_case, `message` is public. */
export type StepError = {
  code: string;
  message: string;
  /** The response of a server, or the fields of an error that a script raised. The whole error is at most 16 KiB. */
  details?: JsonValue;
};

/**
 * The usage of an attempt besides the step itself, charged whether it succeeded or not
 * (docs/specification/billing.md#charges). It is in the event that ends the attempt, so that charges can be recomputed
 * from the log.
 */
export type Consumption = { action: 'tool_call' | 'llm_input_tokens' | 'llm_output_tokens'; quantity: number };

/** The usage of the attempt that an event ends, and its total cost in microcredits; absent: nothing. */
export type Paid = { consumed?: Consumption[]; credits?: number };

/** Why the service itself paused a run, or stopped it. */
export type PauseReason = 'insufficient_credits' | 'budget_spent';

/** The answer about a step in doubt: execute it again, end it without a result, or end it with the given result. */
export type Decision = 'repeat' | 'skip' | 'result';

/**
 * The question to a person, already rendered. `due_at` is in ms since the epoch. `in_doubt`: it is unknown whether the step
 * has happened, and the answer decides what becomes of it.
 */
export type TaskRequest = {
  name: string;
  instructions: string;
  form: JsonMap | null;
  assignees: string[];
  due_at: number | null;
  on_timeout: OnTimeout;
  in_doubt?: true;
  /**
   * The part of the instructions that suffices for the decision, for people who may answer and not read the run; absent: such people
   * do not see the task.
   */
  to_decide?: string;
};

/**
 * A loop (docs/adr/0017): its own graph once for each of `count` items, of which at most `concurrency` are processed at the
 * same time.
 */
export type LoopPlan = {
  type: 'for_each';
  count: number;
  concurrency: number;
  on_item_error: 'fail' | 'continue';
};

/** Why an agent ended before it was done. */
const AGENT_LIMITS = ['max_turns', 'max_tool_calls', 'budget', 'timeout', 'repeated_calls'] as const;
export type AgentLimit = (typeof AGENT_LIMITS)[number];

/**
 * An agent (docs/adr/0021): turns of a model, and the calls of tools that it asks for, until it answers or reaches a
 * limit. `budget`: microcredits that the steps under it may cost. `on_limit`: a last turn without tools, or a failure.
 */
export type AgentPlan = {
  type: 'agent';
  model: string;
  max_turns: number;
  max_tool_calls: number;
  budget?: number;
  /** Each turn is made to fit the rest of the budget; absent in older logs, where the budget must cover the dearest turn so far. */
  fitted?: true;
  timeout_s?: number;
  /** The last seconds of `timeout_s`, which are kept for the closing turn; absent in older logs, where that turn had no end. */
  closing_s?: number;
  /** Microcredits of a call of a tool, known in advance; absent: only what calls have cost is known. */
  call_price?: number;
  on_limit: 'answer' | 'fail';
  /** About how many tokens the conversation has at first, and from how many on it is compacted; absent: never. */
  context?: number;
  compact_at?: number;
  /** How many memories it was given with its request; absent: none. */
  memories?: number;
};

/** How a step expands: into the items of a loop, or into the turns and calls of an agent. */
export type ExpansionPlan = LoopPlan | AgentPlan;

/**
 * A call that a model asked for. `hash`: of its arguments. `policy`: carried out at once, or when a person has approved
 * it, or not at all (`none`). `grant`: a person has allowed such calls permanently, without which this one would be asked for.
 * `outside`: where text from outside was read for which the call is asked for. `outside_input`: where text from outside was read that the
 * input of the called run may hold. `private`, `private_input`: the same of private data, which the call could send out.
 */
export type TurnCall = {
  tool: string;
  hash: string;
  policy: 'auto' | 'ask' | 'none';
  grant?: string;
  outside?: string;
  outside_input?: string;
  private?: string;
  private_input?: string;
};

/**
 * The data that the core needs about a turn, whose result may be large; a turn without calls has none. `limit`: the
 * turn was made as the closing turn, or not at all, because another turn did not fit the budget. `outside`: where the turn read text from
 * outside of the workspace.
 */
export type TurnEnd = { calls: TurnCall[]; limit?: AgentLimit; outside?: string };

/** The fields that the end of a step under an agent records besides its result. */
export type OfAgentStep = { turn?: TurnEnd; digest?: string; context?: number };

/** The rest of the limits of an agent: agents in runs that it calls have no higher ones. */
export type AgentBounds = { max_turns: number; max_tool_calls: number; timeout_s?: number };

/**
 * The run that a step calls (docs/adr/0020). `detach`: the step ends when that run has started. `outside_input` and `private_input`: as in `RunStartedData`.
 * `agent`: the agent whose model called the run as a tool, by the id of its workflow. `budget`: microcredits that the run may charge;
 * absent: what is left of the budget of the calling run.
 */
export type ChildCall = {
  run_id: string;
  workflow_id: string;
  version: number;
  input: JsonMap;
  detach?: true;
  outside_input?: string;
  private_input?: string;
  agent?: { id: string; limits?: AgentBounds };
  budget?: number;
};
/** `refused`: the run was never started. */
export type ChildStatus = 'completed' | 'failed' | 'stopped' | 'refused';

/**
 * The step that called a run. `depth`: how many calls lead to the run. `root`: the run at the top of these calls; absent in older
 * logs, where the calling run counts as that. `detached`: the step does not wait for the run to end. `agents`: those that called it, or
 * a run above it, as a tool, from the top. `limits`: what the lowest of them leaves to agents in this run.
 */
export type ParentCall = {
  run_id: string;
  workflow_id: string;
  step_id: string;
  depth: number;
  root?: string;
  detached?: true;
  agents?: string[];
  limits?: AgentBounds;
};

/** Where a run stands that a request of another run to this service started: below which run, and how deep. */
export type StartedBeneath = { root_run_id: string; depth: number };

/**
 * A step that was added to a run: its id begins with that of its parent. The other fields of a loop's steps are in the
 * graph of the loop; those of an agent's steps are given here.
 */
export type AddedStep = { id: string; type: string; depends_on?: string[]; fields?: JsonMap };

export type RunStartedData = {
  version: number;
  input: JsonMap;
  mode: 'normal' | 'episode';
  trigger_type: string;
  trigger_steps: Record<string, JsonMap>;
  seed_results: Record<string, JsonValue>;
  session_id: string;
  started_by: string;
  /**
   * The branches of conditions decide about the edges to their dependents (docs/adr/0023). Absent in older logs, where
   * they decide about the dependents themselves. `decide` sets it.
   */
  branch_rule?: 'edges';
  /**
   * The run continues from a turn of an agent in another run: how the steps under the agent ended there, by their ids, as
   * `{result}` or `{error}`. They end so again without being executed.
   */
  earlier_turns?: { agent: string; steps: JsonMap };
  /** The run that this one repeats, from `from_step` on or from the start; absent for every other start. */
  rerun_of?: { run_id: string; from_step?: string };
  /** The caller's W3C trace context, which the run's trace is linked to. */
  traceparent?: string;
  /** The step that called the run; absent for a run that no step called. */
  parent?: ParentCall;
  /** A request of a step of another run started the run; absent for every other start. */
  beneath?: StartedBeneath;
  /** Scopes that some types of step take to start, and that the starter lacks; absent: none. */
  withheld_scopes?: string[];
  /** Microcredits that the run may charge: it is stopped once it has charged more. */
  budget?: number;
  /** The person whose credits of the day the run counts towards (docs/chat.md#limits). */
  spends_for?: string;
  /** The person for whom agents act, if the run or one that it calls may have agents; `pat_id` is null for a session. */
  acts_for?: { user_id: string; pat_id: string | null };
  /** The input holds text from outside of the workspace; where from, such as `from a webhook`. */
  outside_input?: string;
  /** A run or a failure has put private data into the input; where from. */
  private_input?: string;
};

/** An event before the log gives it `seq` and the run it belongs to. `at` is in ms since the epoch. */
export type RunEvent = { at: number } & (
  | { type: 'run_started'; data: RunStartedData }
  | {
      type: 'state_changed';
      data: { from: RunStatus; to: RunStatus; error?: RunError; by?: string; reason?: PauseReason };
    }
  | { type: 'stop_requested'; data: { mode: 'graceful'; by: string } }
  /** `term`: of the leader that began it; absent in logs from before there were terms. */
  | { type: 'step_started'; step: string; attempt: number; data: { term?: number } }
  | {
      type: 'step_completed';
      step: string;
      attempt?: number;
      /**
       * `turn`: of a turn of an agent. `digest`: of the result of a call that an agent made. `context`: about how many tokens the
       * conversation of an agent has after a turn or a compaction, or gains by the result of a call.
       */
      data:
        | {
            result: StepResult;
            consumed?: Consumption[];
            credits?: number;
            turn?: TurnEnd;
            digest?: string;
            context?: number;
          }
        | { skipped: true; reason: SkipReason };
    }
  | {
      type: 'step_failed';
      step: string;
      attempt: number;
      /**
       * `continues`: the step is `on_error: continue`, so that its dependents run; absent: the run fails with the step.
       * `tolerated`: the step's parent handles the failure, which does not fail the run by itself. `caused_by_step_id`:
       * the added step for whose failure this step, its parent, fails; no attempt of its own ended.
       */
      data: {
        error: StepError;
        continues?: true;
        tolerated?: true;
        caused_by_step_id?: string;
        consumed?: Consumption[];
        credits?: number;
      };
    }
  | {
      type: 'step_cancelled';
      step: string;
      attempt: number;
      /** `partial`: the output of the attempt until then, such as the text of a model. */
      data: { cancelled: true; reason: CancelReason; caused_by_step_id?: string; partial?: string };
    }
  | {
      type: 'step_retrying';
      step: string;
      attempt: number;
      data: { attempt: number; error: StepError; delay_ms: number; consumed?: Consumption[]; credits?: number };
    }
  | { type: 'step_log'; step: string; attempt: number; data: { lines: string[] } }
  /** The attempt is over, and the step waits for the run that it calls. */
  | { type: 'child_called'; step: string; attempt: number; data: ChildCall }
  /**
   * The run that the step waited for has ended. `completed`: the step continues; otherwise its failure follows. `spent`: what that run and
   * those beneath it have cost, in microcredits, where the caller has a budget.
   */
  | {
      type: 'child_ended';
      step: string;
      attempt: number;
      data: { run_id: string; status: ChildStatus; spent?: number };
    }
  /** The attempt has ended, and the step continues at `until`, in ms since the epoch. */
  | { type: 'step_waiting'; step: string; attempt: number; data: { until: number } }
  | { type: 'task_pending'; step: string; attempt: number; data: TaskRequest }
  | {
      type: 'task_completed';
      step: string;
      attempt: number;
      /** `decision`: about a step that was in doubt; absent for every other task. */
      data: { approved: boolean; completed_by: string | null; timed_out?: true; decision?: Decision };
    }
  /**
   * The attempt ended, and steps under this one are to be added. `items`: one for each of a loop's `count`. `agent`: what
   * the steps of an agent work from, which the core does not read.
   */
  | {
      type: 'step_expanded';
      step: string;
      attempt: number;
      data: { plan: ExpansionPlan; items: JsonValue[]; agent?: JsonMap };
    }
  /** `step` and `parent` are the same. */
  | { type: 'steps_added'; step: string; attempt: number; data: { parent: string; steps: AddedStep[] } }
);

/** Why a run failed: the step that failed it, and the error of that step. */
export type RunError = { code: string; message: string; step_id: string };
