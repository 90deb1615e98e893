import type { StepPreview } from '../../ports/step-declarations.ts';
import { modelOf, orNull } from '../preview-parts.ts';

export const preview: StepPreview = {
  summary: ({ model }) => orNull(modelOf(model)),
};
