import { describe, expect, test } from 'vitest';
import type { JsonMap } from '../../core/index.ts';
import type { Attempt } from '../../ports/step-type.ts';
import { wait } from './wait.ts';

const NOW = Date.parse('2026-11-23T00:00:00Z');
const LONGEST = 366 * 86_400;
const SCOPE = { tenantId: 't', projectId: 'p' };

const run = (fields: JsonMap, input: JsonMap = {}) => {
  const attempt: Attempt = {
    run: { id: 'r', workflowId: 'w', version: 1, tenantId: 't', projectId: 'p' },
    step: { id: 'w', type: 'wait', ...fields },
    attempt: 1,
    now: NOW,
    input,
    result: () => null,
    ancestors: () => new Set(),
    log: () => {},
  };
  return wait.execute(attempt, new AbortController().signal);
};
const problems = async (fields: JsonMap) =>
  (await wait.check({ id: 'w', type: 'wait', ...fields }, SCOPE)).map(p => p.code);

describe('how long', () => {
  test.each<[JsonMap, JsonMap, number]>([
    [{ seconds: 0 }, {}, 0],
    [{ seconds: 1.5 }, {}, 1_500],
    [{ seconds: LONGEST }, {}, LONGEST * 1000],
    [{ seconds: '{{input.s}}' }, { s: 90 }, 90_000],
    [{ until: '2026-11-23T01:00:00Z' }, {}, 3_600_000],
    [{ until: '2026-11-23T01:00:00.250+01:00' }, {}, 250],
    [{ until: '2026-11-22T23:59:59Z' }, {}, -1_000],
    [{ until: '2027-11-24T00:00:00Z' }, {}, LONGEST * 1000],
    [{ until: '{{input.day}}T00:00:00Z' }, { day: '2027-11-23' }, 365 * 86_400_000],
  ])('%j', async (fields, input, ms) => {
    expect(await run(fields, input)).toEqual({ kind: 'sleeping', until: NOW + ms });
  });

  test.each<[JsonMap, JsonMap, string]>([
    [{}, {}, 'invalid_step'],
    [{ seconds: 1, until: '2026-11-23T01:00:00Z' }, {}, 'invalid_step'],
    [{ seconds: '{{input.s}}' }, { s: '90' }, 'invalid_step'],
    [{ seconds: '{{input.s}}' }, { s: -1 }, 'invalid_step'],
    [{ seconds: '{{input.s}}' }, { s: LONGEST + 1 }, 'invalid_step'],
    [{ seconds: LONGEST + 1 }, {}, 'invalid_step'],
    [{ seconds: '{{input.s}}' }, {}, 'template_unresolved'],
    [{ until: 'tomorrow' }, {}, 'invalid_step'],
    [{ until: '2026-11-23T01:00:00' }, {}, 'invalid_step'],
    [{ until: '2026-02-30T00:00:00Z' }, {}, 'invalid_step'],
    [{ until: '2027-11-24T00:00:01Z' }, {}, 'wait_too_long'],
    [{ until: '9999-12-31T00:00:00Z' }, {}, 'wait_too_long'],
  ])('%j with %j fails as %s', async (fields, input, code) => {
    expect(await run(fields, input)).toMatchObject({ kind: 'failed', error: { code }, retryable: false });
  });
});

test.each<[JsonMap, string[]]>([
  [{ seconds: 1 }, []],
  [{ seconds: '{{input.s}}' }, []],
  [{ until: '{{input.s}}' }, []],
  [{ until: '2026-11-23T01:00:00Z' }, []],
  [{}, ['wait_ambiguous']],
  [{ seconds: 1, until: '2026-11-23T01:00:00Z' }, ['wait_ambiguous']],
  [{ seconds: '60' }, ['invalid_field']],
  [{ until: 'tomorrow' }, ['until_invalid']],
])('the check of %j finds %j', async (fields, codes) => {
  expect(await problems(fields)).toEqual(codes);
});

test.each<[JsonMap, boolean]>([
  [{ seconds: -1 }, false],
  [{ seconds: LONGEST }, true],
  [{ seconds: LONGEST + 1 }, false],
  [{ seconds: 1, minutes: 1 }, false],
  [{ until: 5 }, false],
])('the schema accepts %j: %s', (fields, takes) => {
  expect(wait.fields.safeParse(fields).success).toBe(takes);
});
