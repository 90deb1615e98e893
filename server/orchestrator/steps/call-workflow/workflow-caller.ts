import type { JsonMap, JsonValue } from '../../core/index.ts';
import type { Attempt, CallLineage, CheckScope, StepProblem } from '../../ports/step-type.ts';

/** The workflow that a `call_workflow` step names, with the rendered input. */
export type CalledWorkflow = { workflowId: string; version: number | undefined; input: JsonMap };

export type CallFailure = { kind: 'failed'; code: string; message: string };
/** The version to start. */
export type Callable = { kind: 'callable'; version: number } | CallFailure;
export type CallOutput = { kind: 'output'; output: JsonValue } | CallFailure;

/**
 * The port of `call_workflow`, which the domain of runs implements. All methods are limited to the project of the
 * calling run.
 */
export type WorkflowCaller = {
  /** Returns the problems of a step that names this workflow. A workflow that calls itself is one of them. */
  check(scope: CheckScope, call: { workflowId: string; version: number | undefined }): Promise<StepProblem[]>;
  /**
   * Decides whether the run may call the workflow, and which version. Waits while the database is unavailable, until
   * `signal` aborts.
   */
  resolve(
    run: Attempt['run'],
    call: CalledWorkflow,
    on: { lineage: CallLineage; signal: AbortSignal },
  ): Promise<Callable>;
  /** Reads the output of a completed run. Waits while the database is unavailable, until `signal` aborts. */
  output(run: Attempt['run'], child: { runId: string; workflowId: string }, signal: AbortSignal): Promise<CallOutput>;
};
