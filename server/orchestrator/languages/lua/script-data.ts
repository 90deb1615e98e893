import type { JsonMap } from '../../core/index.ts';
import type { CelError } from '../cel/index.ts';

/**
 * The inputs of a script, each value as JSON text. They are parsed one at a time: as objects they take up to 30 times
 * the size of the text, and when the heap of one thread is full, V8 ends the whole process.
 */
export type LuaData = {
  /** The values of the script's templates, without duplicates. */
  values: string[];
  /** The indexes of `__values[1]`… in `values`; absent if they are in the same order. */
  places?: readonly number[];
  input?: string;
  /** Only the results that the script can read. */
  steps?: { [step: string]: string };
  /** The errors of the steps in `steps` that failed. */
  errors?: { [step: string]: string };
  run?: string;
  /** The item of the loop, and its index; absent outside loops. */
  item?: string;
  index?: number;
};

export type LuaErrorCode = 'lua_syntax' | 'lua_error' | 'lua_memory' | 'lua_result_invalid';
/** `result` is JSON text. */
export type LuaOutcome =
  | { ok: true; result: string; log: string[] }
  | { ok: false; code: LuaErrorCode | CelError['code']; message: string; details?: JsonMap; log: string[] };
