import type { StepPreview } from '../../ports/step-declarations.ts';
import { orNull, shortExpression, textOf } from '../preview-parts.ts';

export const preview: StepPreview = {
  starter: { expression: 'true' },
  result: () => ({ value: true, branch: 'then' }),
  summary: ({ expression }) => orNull(shortExpression(textOf(expression))),
};
