import type { StepPreview } from '../../ports/step-declarations.ts';
import { stepTypeDescription } from '../descriptions.ts';
import { textOf } from '../preview-parts.ts';

export const preview: StepPreview = {
  summary: ({ stands_for: type }) => {
    const label = stepTypeDescription(textOf(type))?.label ?? textOf(type);
    return label && `Instead of: ${label}`;
  },
};
