import { isObject } from '../../../platform/json.ts';
import type { JsonMap } from '../../core/index.ts';
import type { StepPreview } from '../../ports/step-declarations.ts';
import { fieldText, textOf, withShortTemplates } from '../preview-parts.ts';

export const preview: StepPreview = {
  liveEffect: ({ method, url }) => `Sends ${fieldText(method) || 'GET'} ${fieldText(url)}`,
  result: ({ pagination }): JsonMap =>
    isObject(pagination)
      ? { status: 200, headers: {}, items: [], pages: 1, more: false }
      : { status: 200, headers: {}, body: null },
  summary: ({ method, url }) => {
    const to = withShortTemplates(textOf(url))
      .replace(/^https?:\/\//i, '')
      .replace(/[?#].*$/, '')
      .replace(/\/$/, '');
    return to && `${textOf(method).toUpperCase() || 'GET'} ${to}`;
  },
};
