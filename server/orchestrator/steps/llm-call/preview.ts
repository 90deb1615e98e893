import { isObject } from '../../../platform/json.ts';
import type { StepPreview } from '../../ports/step-declarations.ts';
import { firstLine, modelOf, orNull, USAGE } from '../preview-parts.ts';

export const preview: StepPreview = {
  result: ({ response_schema }, exampleOf) => {
    const answer = { text: '', model: '', finish_reason: '', usage: USAGE };
    return isObject(response_schema) ? { ...answer, object: exampleOf(response_schema) } : answer;
  },
  summary: ({ prompt, model }) => firstLine(prompt) ?? orNull(modelOf(model)),
};
