import type { Step } from '../../../server/domains/workflows/edits/index.ts';
import type { Effect, Trial } from '../proposal.ts';

/** Returns what a trial has replaced or executed because a person agreed to it, once for each step. */
export function effectsOf({ stand_ins: standIns, live }: Trial): Map<string, Effect[]> {
  return Map.groupBy([...standIns, ...(live?.executed ?? [])], ({ step }) => step);
}

/** Returns what a step would really do, in its own words: the tool that it calls, the address that it sends to, the question. */
export function deedOf(step: Step | undefined): string {
  switch (step?.type) {
    case 'mcp_call':
      return `Calls the tool ${textOf(step.tool_name)} with ${JSON.stringify(step.tool_args ?? {})}`;
    case 'http_request':
      return `Sends ${textOf(step.method) || 'GET'} ${textOf(step.url)}`;
    case 'human_task':
      return `Asks: ${textOf(step.instructions) || textOf(step.name) || step.id}`;
    case 'agent':
      return 'Starts an agent, which may call its tools';
    case 'call_workflow':
      return 'Starts a run of another workflow';
    case 'wait':
      return 'Waits as long as it says';
    case 'for_each':
      return 'Does so once for each item of its list';
    default:
      return '';
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
