import type { GraphStep, JsonMap, TaskRequest } from '../core/index.ts';

/** Whether a person is asked about a call that may have happened. Not drawn, so that it changes nothing else of a seed. */
export function asksWhenLost({ type, on_lost, tool }: GraphStep): boolean {
  return type === 'agent_tool' ? tool === 'send' : type === 'mcp_call' && on_lost === 'ask';
}

/** The task in which a step asks a person about a call that may have happened. */
export const IN_DOUBT: TaskRequest = {
  name: 'It may have happened',
  instructions: '',
  form: null,
  assignees: [],
  due_at: null,
  on_timeout: 'reject',
  in_doubt: true,
};

/**
 * Returns the answer of the `count`-th client. The client's name contains the decision. A task of another kind treats
 * the answer as its result.
 */
export function decisionOf(count: number, approved: boolean): { by: string; result: JsonMap } {
  const name = `user ${count}`;
  if (!approved) return { by: `${name}: skip`, result: { choice: 'result', result: 1 } };
  switch (count % 4) {
    case 0:
      return { by: `${name}: repeat`, result: {} };
    case 1:
      return { by: `${name}: repeat`, result: { choice: 'repeat', result: 1 } };
    case 2:
      return { by: `${name}: skip`, result: { choice: 'skip' } };
    default: {
      const by = `${name}: result`;
      return { by, result: { choice: 'result', result: { entered: by } } };
    }
  }
}
