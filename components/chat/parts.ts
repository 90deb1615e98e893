import type { DataUIPart, UIDataTypes, UIMessage } from 'ai';
import type { Message } from './branches.ts';

export type Part = Message['parts'][number];
export type CallPart = Extract<Part, { type: 'dynamic-tool' }>;

const DATA = ['data-summary', 'data-recall', 'data-outside', 'data-proposal', 'data-trial'] as const;
const isData = (part: UIMessage['parts'][number]): part is DataUIPart<UIDataTypes> =>
  DATA.some(each => each === part.type);

/** Returns the parts of a streamed answer in their stored form. */
export function partsOf({ parts }: Pick<UIMessage, 'parts'>): Part[] {
  return parts.flatMap((part): Part[] => {
    if (part.type === 'text' || part.type === 'reasoning') return [{ type: part.type, text: part.text }];
    // The stream and the stored answer have the same data.
    if (isData(part)) return [{ type: part.type, id: part.id ?? '', data: part.data } as Part];
    if (!('toolCallId' in part)) return [];
    const { toolCallId, state, approval } = part;
    const toolName = part.type === 'dynamic-tool' ? part.toolName : part.type.replace(/^tool-/, '');
    return [
      {
        type: 'dynamic-tool',
        toolCallId,
        toolName,
        state,
        ...(part.input !== undefined && { input: part.input as CallPart['input'] }),
        ...(part.state === 'output-available' && { output: part.output as CallPart['output'] }),
        ...(part.state === 'output-error' && { errorText: part.errorText }),
        ...(approval && {
          approval: {
            id: approval.id,
            ...(approval.approved !== undefined && { approved: approval.approved }),
            ...(approval.reason !== undefined && { reason: approval.reason }),
          },
        }),
      },
    ];
  });
}

/**
 * Returns each part with a key that is the same for the streamed and the stored part, so that opened parts stay open. The index cannot be the
 * key, because only the stored answer has parts for the start of steps.
 */
export function withKeys(parts: readonly Part[]): [key: string, part: Part][] {
  const counts = new Map<string, number>();
  return parts.map(part => {
    const name = part.type === 'dynamic-tool' ? part.toolCallId : part.type;
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    return [`${name} ${count}`, part];
  });
}

/** Returns the run and the step in the id of a call or an approval (`run:step`). */
export function stepOf(id: string): { runId: string; step: string } {
  const [runId = '', step = ''] = id.split(':');
  return { runId, step };
}

/** Returns whether a call waits for an approval or an answer, and no other call is active. */
export function awaitsPerson(parts: readonly Part[]): boolean {
  const states = parts.flatMap(part => (part.type === 'dynamic-tool' ? [part.state] : []));
  return (
    states.includes('approval-requested') &&
    !states.some(state => state === 'input-available' || state === 'approval-responded')
  );
}
