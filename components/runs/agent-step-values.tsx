'use client';
import type { StepState } from '@/server/domains/runs/reading/run-state.ts';
import { changeText } from '@/server/orchestrator/core/changed-arguments.ts';
import type { JsonValue } from '@/server/orchestrator/core/events.ts';
import { addedId, approvalId, turnId } from '@/server/orchestrator/core/step-ids.ts';
import type { ContentPart } from '@/server/orchestrator/steps/agent/turn-messages.ts';
import type { TurnResult } from '@/server/orchestrator/steps/agent/turn-result.ts';
import { isObject, type Json } from '@/server/platform/json.ts';
import { JsonTree } from '../ui/json-tree.tsx';
import { LazyMarkdown } from '../ui/lazy-markdown.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { AgentPrompt } from './agent-prompt.tsx';
import { LargeValue, Part, type Ref } from './run-values.tsx';
import type { LiveRun } from './use-run.ts';
import { type StepResult, useStepResult } from './use-step-result.ts';

type Props = Ref & { live: LiveRun; step: StepState; onSelect: (step: string) => void };

/**
 * Shows the answer and calls of a turn, the arguments and result of a call, the question and decision of an approval,
 * or a summary.
 */
export function AgentStepValues(props: Props) {
  switch (props.step.ofAgent?.type) {
    case 'agent_turn':
      return <Turn {...props} />;
    case 'agent_tool':
      return <Call {...props} />;
    case 'agent_approval':
      return <Approval {...props} />;
    default:
      return <Summary {...props} />;
  }
}

/** Shows the summary that replaces the earlier messages of a long conversation. */
function Summary({ workflowId, runId, live, step }: Props) {
  const ref = { workflowId, runId };
  const result = useStepResult(ref, live, step.id);
  const text = isObject(result.value) && typeof result.value.text === 'string' ? result.value.text : null;
  return (
    <>
      <Loading {...ref} of={result} title="Summary" />
      {text === null ? null : (
        <Part title="Summary">
          <LazyMarkdown text={text} />
        </Part>
      )}
      {text === null ? null : <AgentPrompt {...ref} step={step.id} />}
    </>
  );
}

/** Shows a result, or the state of loading it. */
function Loading({ of: { error, retry, pending, large }, title, ...ref }: Ref & { of: StepResult; title: string }) {
  if (error) return <ErrorState error={error} onRetry={retry} />;
  if (pending) return <Skeleton className="h-20 w-full" />;
  return large ? <LargeValue {...ref} title={title} reference={large} /> : null;
}

const turnOf = (value: unknown): TurnResult | null =>
  isObject(value) && Array.isArray(value.content) ? (value as TurnResult) : null;

function Turn({ workflowId, runId, live, step, onSelect }: Props) {
  const ref = { workflowId, runId };
  const result = useStepResult(ref, live, step.id);
  const turn = turnOf(result.value);
  return (
    <>
      <Loading {...ref} of={result} title="Answer" />
      {turn === null ? null : (
        <>
          <Answer turn={turn} id={step.id} live={live} onSelect={onSelect} />
          <p className="text-xs text-muted tabular-nums">
            {turn.model} · {turn.usage.input_tokens.toLocaleString('en')} tokens read,{' '}
            {turn.usage.output_tokens.toLocaleString('en')} written
            {turn.finish_reason === 'length' ? ' · cut off at the length limit' : ''}
          </p>
        </>
      )}
      {step.attempts.length === 0 ? null : <AgentPrompt {...ref} step={step.id} />}
    </>
  );
}

type AnswerProps = { turn: TurnResult; id: string; live: LiveRun; onSelect: (step: string) => void };

function Answer({ turn, id, live, onSelect }: AnswerProps) {
  const calls = turn.content.filter(part => part.type === 'tool_call');
  const reasoning = textOf(turn.content, 'reasoning');
  return (
    <>
      {reasoning === '' ? null : (
        <details>
          <summary className="cursor-default text-sm text-accent-text">Reasoning</summary>
          <p className="mt-1 text-sm whitespace-pre-wrap wrap-anywhere text-muted">{reasoning}</p>
        </details>
      )}
      {turn.text.trim() === '' ? null : (
        <Part title="Answer">
          <LazyMarkdown text={turn.text} />
        </Part>
      )}
      {calls.length === 0 ? null : (
        <Part title={calls.length === 1 ? 'Call' : 'Calls'}>
          <ul className="flex flex-col gap-1">
            {calls.map(({ name }, index) => {
              const call = `${id}.${index + 1}`;
              const problem = turn.problems?.[String(index + 1)];
              return (
                <li key={call} className="text-sm">
                  {live.state.steps.has(call) ? (
                    <button
                      type="button"
                      onClick={() => onSelect(call)}
                      className="font-mono text-xs text-accent-text hover:underline"
                    >
                      {name}
                    </button>
                  ) : (
                    <code className="text-xs">{name}</code>
                  )}
                  {problem ? <span className="text-xs text-bad"> was not made: {problem.message}</span> : null}
                </li>
              );
            })}
          </ul>
        </Part>
      )}
    </>
  );
}

const textOf = (content: readonly ContentPart[], type: 'text' | 'reasoning'): string =>
  content.flatMap(part => (part.type === type ? [part.text] : [])).join('');

function Call({ workflowId, runId, live, step }: Props) {
  const ref = { workflowId, runId };
  const { parent, index, name } = addedId(step.id) ?? { parent: '', index: 0, name: '' };
  const turn = turnOf(useStepResult(ref, live, turnId(parent, index)).value);
  const approval = useStepResult(ref, live, approvalId(step.id)).value;
  const requested = turn?.content.filter(part => part.type === 'tool_call')[Number.parseInt(name, 10) - 1]?.arguments;
  const isQuestion = step.ofAgent?.tool === 'ask_user';
  const change = isQuestion ? null : changeText(requested as JsonValue, (approval ?? null) as JsonValue);
  const changed =
    change !== null && isObject(approval) && isObject(approval.arguments) ? approval.arguments : undefined;
  const result = useStepResult(ref, live, step.id);
  return (
    <>
      {requested === undefined ? null : (
        <Part title={changed === undefined ? 'Arguments' : 'Arguments, as changed by a person'}>
          {change === null ? null : <p className="mb-1 text-xs wrap-anywhere text-muted">{change}</p>}
          <JsonTree label="Arguments" value={(changed ?? requested) as Json} />
        </Part>
      )}
      <Loading {...ref} of={result} title="Result" />
      {result.value === undefined ? null : (
        <Part title="Result">
          <JsonTree label="Result" value={result.value as Json} />
        </Part>
      )}
    </>
  );
}

function Approval({ workflowId, runId, live, step }: Props) {
  const ref = { workflowId, runId };
  const result = useStepResult(ref, live, step.id);
  const question = result.events.all.findLast(({ event_type }) => event_type === 'task_pending')?.data.instructions;
  return (
    <>
      <Loading {...ref} of={result} title="Decision" />
      {typeof question === 'string' ? (
        <Part title="Question">
          <LazyMarkdown text={question} />
        </Part>
      ) : null}
      {isObject(result.value) ? <Decision answer={result.value} /> : null}
    </>
  );
}

function Decision({ answer }: { answer: Record<string, unknown> }) {
  const { approved, completed_by, reason } = answer;
  const by = typeof completed_by === 'string' && completed_by !== '' ? ` by ${completed_by}` : '';
  return (
    <Part title="Decision">
      <p className="text-sm wrap-anywhere">
        {approved === true ? `Approved${by}` : `Rejected${by}`}
        {typeof reason === 'string' && reason !== '' ? `: ${reason}` : ''}
      </p>
    </Part>
  );
}
