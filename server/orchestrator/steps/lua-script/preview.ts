import type { StepPreview } from '../../ports/step-declarations.ts';
import { shortExpression, textOf } from '../preview-parts.ts';

export const preview: StepPreview = {
  starter: { script: 'return {}' },
  summary: ({ script }) => {
    const text = textOf(script);
    if (!text) return null;
    const comment = /^--(?!\[\[)\s*(\S.*)$/m.exec(text.split('\n', 1)[0] ?? '')?.[1];
    const count = text.split('\n').length;
    return comment ?? (count === 1 ? shortExpression(text) : `${count} lines of Lua`);
  },
};
