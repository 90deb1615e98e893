import { isObject } from '@/server/platform/json.ts';
import type { Inputs, Outputs } from '../trpc/provider.tsx';

export type Turn = Inputs['memory_index_conversation']['turns'][number];
type RunContext = Pick<Outputs['runs_get_context'], 'input' | 'steps'>;
type Failure = { step_id: string; message: string } | null;

/**
 * The maximum number of turns of an episode, of characters per turn, and of characters in total, so that an episode
 * fits into a request.
 */
const MAX_TURNS = 500;
const MAX_TURN_CHARACTERS = 20_000;
const MAX_CHARACTERS = 400_000;

/**
 * Returns the input, results and failure of a run as turns of an episode. All of them count as text from outside: Baton
 * does not know who wrote the input, nor which parts of it a model repeats.
 */
export function turnsOfRun({ input, steps }: RunContext, failure: Failure): Turn[] {
  const texts = [
    ...(Object.keys(input).length > 0 ? [`Input: ${JSON.stringify(input)}`] : []),
    ...Object.entries(steps).flatMap(([step, { result, result_ref: reference }]) => {
      const text = reference === undefined ? textOf(result) : '';
      return text === '' ? [] : [`${step}: ${text}`];
    }),
    ...(failure === null ? [] : [`The run failed at ${failure.step_id}: ${failure.message}`]),
  ];
  let left = MAX_CHARACTERS;
  return texts.slice(0, MAX_TURNS).flatMap((text): Turn[] => {
    const taken = text.slice(0, Math.min(MAX_TURN_CHARACTERS, left));
    left -= taken.length;
    return taken.trim() === '' ? [] : [{ role: 'tool', text: taken }];
  });
}

/** Returns the text of a result. For a model or an agent, this is the text that it wrote. */
function textOf(result: unknown): string {
  if (result === null || result === undefined) return '';
  if (typeof result === 'string') return result;
  if (isObject(result) && typeof result.text === 'string') return result.text;
  return JSON.stringify(result);
}
