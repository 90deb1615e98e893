import { describe, expect, test } from 'vitest';
import { ADDED_STEP_TYPES, STEP_TYPES } from './descriptions.ts';
import { summaryOf } from './summary.ts';

const names: Readonly<Record<string, string>> = { w: 'Book the order', a: 'Research' };
const summarize = (step: { type: string } & Record<string, unknown>) => summaryOf(step, id => names[id]);

/** The types whose summary adds nothing to their label. */
const SILENT = ['agent_approval'];

const EXAMPLES: readonly (readonly [type: string, fields: Record<string, unknown>, line: string])[] = [
  ['http_request', { url: 'https://api.example.com/orders' }, 'GET api.example.com/orders'],
  ['http_request', { method: 'post', url: 'http://x.io/a/{{input.id}}?key=1#b' }, 'POST x.io/a/{id}'],
  ['http_request', { method: 'GET', url: '{{steps.first.result.next}}' }, 'GET {first.next}'],
  ['condition', { expression: 'input.total > 500' }, 'total > 500'],
  [
    'condition',
    { expression: 'steps.tax.result.sum > 1 &&\n  input.note == "input.x"' },
    'tax.sum > 1 && note == "input.x"',
  ],
  ['human_task', { assignees: ['finance@example.com'] }, 'Ask finance'],
  ['human_task', { assignees: ['tenant_admin', 'b@example.com'] }, 'Ask admins and b'],
  ['human_task', { assignees: ['{{input.manager}}', 'b@x.io', 'c@x.io'] }, 'Ask {manager} and 2 others'],
  ['human_task', { assignees: ['run_starter'] }, 'Ask whoever started it'],
  ['human_task', {}, 'Ask any contributor'],
  ['wait', { seconds: 600 }, 'For 10 minutes'],
  ['wait', { seconds: 86_400 }, 'For 1 day'],
  ['wait', { seconds: 90 }, 'For 90 seconds'],
  ['wait', { seconds: '{{input.pause}}' }, 'For {pause} seconds'],
  ['wait', { until: '2027-01-31T09:00:00Z' }, 'Until 2027-01-31 09:00 UTC'],
  ['wait', { until: '{{input.due}}' }, 'Until {due}'],
  ['for_each', { items: '{{input.orders}}' }, 'Each of orders'],
  [
    'for_each',
    { items: 'steps.list.result.filter(x, x.open)', concurrency: 5 },
    'Each of list.filter(x, x.open), 5 at a time',
  ],
  ['call_workflow', { workflow_id: 'w' }, 'Run Book the order and wait'],
  ['call_workflow', { workflow_id: 'w', detach: true }, 'Start Book the order'],
  ['call_workflow', { workflow_id: '{{input.next}}' }, 'Run {next} and wait'],
  ['mcp_call', { tool_name: 'create_invoice' }, 'create_invoice'],
  ['llm_call', { model: 'openai/gpt-5', prompt: 'Summarize {{input.text}}\nin a line' }, 'Summarize {text}'],
  ['llm_call', { model: 'openai/gpt-5' }, 'gpt-5'],
  ['agent', { agent_id: 'a', prompt: 'Find three offers' }, 'Research: Find three offers'],
  ['agent', { model: 'openai/gpt-5', prompt: 'Find three offers' }, 'Find three offers'],
  ['lua_script', { script: '-- Adds up the items.\nreturn 1' }, 'Adds up the items.'],
  ['lua_script', { script: 'return input.a + input.b' }, 'return a + b'],
  ['lua_script', { script: 'local a = 1\nreturn a' }, '2 lines of Lua'],
  ['agent_turn', { model: 'openai/gpt-5' }, 'gpt-5'],
  ['agent_compaction', { model: 'openai/gpt-5' }, 'gpt-5'],
  ['agent_tool', { tool: 'search' }, 'search'],
  ['memory_extract', { model: 'openai/gpt-5' }, 'gpt-5'],
  ['stand_in', { stands_for: 'http_request' }, 'Instead of: HTTP request'],
];

describe('a step has a summary', () => {
  test.each(EXAMPLES)('%s %j', (type, fields, line) => expect(summarize({ type, ...fields })).toBe(line));

  test('for every type', () => {
    const types = Object.keys({ ...STEP_TYPES, ...ADDED_STEP_TYPES });
    expect(new Set([...EXAMPLES.map(([type]) => type), ...SILENT])).toEqual(new Set(types));
  });

  test('or none if its fields are missing or have another type', () => {
    for (const type of [...Object.keys({ ...STEP_TYPES, ...ADDED_STEP_TYPES }), 'unknown', 'constructor']) {
      if (type === 'human_task') continue;
      expect(summarize({ type })).toBeNull();
      const odd = { url: 7, expression: null, items: {}, script: [], prompt: true, seconds: {}, tool_name: 1 };
      expect(summarize({ type, ...odd })).toBeNull();
    }
  });

  test('without an id that means nothing to a reader', () =>
    expect(summarize({ type: 'call_workflow', workflow_id: '0190c5f0' })).toBeNull());

  test('in one line of limited length', () => {
    const line = summarize({ type: 'condition', expression: `input.a ==\n\n 1${' || true'.repeat(100)}` });
    expect(line).toHaveLength(120);
    expect(line).toMatch(/^a == 1 \|\| true.*…$/);
  });
});
