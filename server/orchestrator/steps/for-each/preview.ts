import type { StepPreview } from '../../ports/step-declarations.ts';
import { shortExpression, textOf } from '../preview-parts.ts';

export const preview: StepPreview = {
  starter: { items: '[1, 2, 3]', steps: [{ id: 'each_item', type: 'lua_script', script: 'return item' }] },
  liveEffect: () => 'Does so once for each item of its list',
  result: () => ({ results: [], failed: 0 }),
  summary: ({ items, concurrency }) => {
    const list = shortExpression(textOf(items).replace(/^\{\{(.*)\}\}$/s, '$1'));
    if (!list) return null;
    return typeof concurrency === 'number' && concurrency > 1
      ? `Each of ${list}, ${concurrency} at a time`
      : `Each of ${list}`;
  },
};
