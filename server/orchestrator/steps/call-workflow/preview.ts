import type { StepPreview } from '../../ports/step-declarations.ts';
import { templateOf, textOf } from '../preview-parts.ts';

export const preview: StepPreview = {
  liveEffect: () => 'Starts a run of another workflow',
  result: ({ detach }) => (detach === true ? { run_id: '' } : null),
  summary: ({ workflow_id: id, detach }, nameOf) => {
    const name = textOf(id) && (nameOf(textOf(id)) ?? templateOf(id));
    if (!name) return null;
    return detach === true ? `Start ${name}` : `Run ${name} and wait`;
  },
};
