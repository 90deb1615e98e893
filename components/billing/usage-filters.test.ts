import { describe, expect, test } from 'vitest';
import { usageDimensions } from '../../server/domains/billing/schemas.ts';
import { drillDown, readUsageFilters } from './usage-filters.ts';

const readFilters = (url: Record<string, string>) => readUsageFilters(key => url[key] ?? '');
const workflow = '01890000-0000-7000-8000-000000000000';

describe('the filters of the URL', () => {
  test('contain only values that the API accepts', () => {
    expect(
      readFilters({ workflow_id: workflow, action: 'tool_call', subject: 'search', started_by: 'ada@example.com' }),
    ).toEqual({
      workflow_id: workflow,
      action: 'tool_call',
      subject: 'search',
      started_by: 'ada@example.com',
    });
    expect(readFilters({ workflow_id: 'none', action: 'sleep', step_type: '' })).toEqual({});
  });
});

describe('the URL for an item', () => {
  test.each(usageDimensions)('of %s filters by the item and opens the first page', by => {
    const key = by === 'workflow' ? workflow : by === 'day' ? '2026-03-09' : by === 'action' ? 'tool_call' : 'search';
    const url = drillDown(by, key);
    expect(url.cursor).toBe('');
    expect(url.by).not.toBe(by);
    if (by === 'day') expect(url).toMatchObject({ period: 'custom', from: key, to: key });
    else expect(Object.values(readFilters(url))).toContain(key);
  });
});
