import type { Expression } from '../languages/cel/index.ts';
import type { LuaData } from '../languages/lua/index.ts';
import type { Attempt } from '../ports/step-type.ts';
import { failed } from './failure.ts';
import { errorTexts } from './reads.ts';

/**
 * The maximum data that an expression may read in a worker, in characters of JSON. As values, the data takes up to 21
 * times as much memory, and when the heap of one thread is full, V8 ends the whole process.
 */
const MAX_DATA_CHARACTERS = 8 * 1024 * 1024;

/** The outcome of an expression that reads too much data or does too much work. */
export const TOO_COSTLY = failed(
  'expression_too_costly',
  'the expression does too much work or reads too much: loop over less, or use a lua_script step',
);

/** The error for an expression whose data exceeds MAX_DATA_CHARACTERS. */
export class DataTooLarge extends Error {}

function resultText(step: string, attempt: Attempt): string | undefined {
  try {
    return JSON.stringify(attempt.result(step));
  } catch {
    return undefined;
  }
}

/**
 * Returns a function that creates the data of the expression. It is called when a worker is free, because thousands may
 * wait. Large results exist only until the first await, so their texts are taken now. The function throws DataTooLarge.
 */
export function dataOf({ steps, readsAnyStep, readsItem }: Expression, attempt: Attempt): () => LuaData {
  const names = readsAnyStep ? attempt.ancestors() : steps;
  const errors = errorTexts(names, attempt);
  const loaded = new Map([...names].map(step => [step, attempt.resultText?.(step)]));
  const item = readsItem ? attempt.item : null;
  return () => {
    const input = JSON.stringify(attempt.input);
    const ofLoop = item == null ? {} : { item: JSON.stringify(item.item), index: item.index };
    let size = input.length + (ofLoop.item?.length ?? 0);
    const texts: [string, string][] = [];
    for (const step of names) {
      const text = loaded.get(step) ?? resultText(step, attempt);
      if (text === undefined) continue;
      size += text.length;
      if (size > MAX_DATA_CHARACTERS) throw new DataTooLarge();
      texts.push([step, text]);
    }
    // fromEntries defines keys instead of assigning them: a step may be called __proto__.
    return { values: [], input, steps: Object.fromEntries(texts), ...errors, ...ofLoop };
  };
}
