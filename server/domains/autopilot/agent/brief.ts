import type { JsonValue } from '../../../orchestrator/core/index.ts';
import { isObject } from '../../../platform/json.ts';

/** What a model reads of what operations return, by their names: a model that made the edits need not read the whole draft after each. */
export const BRIEF: Readonly<Record<string, (output: JsonValue) => JsonValue>> = {
  autopilot_propose: withoutContents,
  autopilot_edit_proposal: withoutContents,
};

function withoutContents(output: JsonValue): JsonValue {
  if (!isObject(output)) return output;
  const { draft: _draft, diff: _diff, ...rest } = output;
  return rest;
}
