import { expect, test } from 'vitest';
import { inSeconds, inUnit } from '../time-units.ts';
import { candidatesOf, isAssignee, offerCandidates } from './assignees.ts';

const people = [
  { email: 'ann@example.com', name: 'Ann Lee', tenant_admin: false, role: 'project_contributor' },
  { email: 'bo@example.com', name: null, tenant_admin: true, role: null },
  { email: 'eve@example.com', name: 'Eve', tenant_admin: false, role: 'project_viewer' },
];

test('a task can be assigned to roles and to people who may answer', () => {
  const candidates = candidatesOf(people);
  expect(candidates.map(({ label }) => label)).toEqual([
    'All contributors',
    'Administrators',
    'Whoever started the run',
    'Ann Lee',
    'bo@example.com',
  ]);
  expect(offerCandidates(candidates, ['ANN@example.com', 'tenant_admin'], '').map(({ value }) => value)).toEqual([
    'project_contributor',
    'run_starter',
    'bo@example.com',
  ]);
  expect(offerCandidates(candidates, [], 'lee ann')).toHaveLength(1);
  for (const text of ['a@b', '{{input.email}}']) expect(isAssignee(text)).toBe(true);
  for (const text of ['', 'ann', 'a b@c', '{{input.email']) expect(isAssignee(text)).toBe(false);
});

test('a time limit is shown in the largest fitting unit, and parsed back', () => {
  expect([30, 90, 5400, 7200, 86_400].map(inUnit)).toEqual([
    { amount: 30, unit: 'seconds' },
    { amount: 90, unit: 'seconds' },
    { amount: 90, unit: 'minutes' },
    { amount: 2, unit: 'hours' },
    { amount: 24, unit: 'hours' },
  ]);
  expect(inSeconds('1.5', 'hours')).toBe(5400);
  expect(inSeconds('0,5', 'minutes')).toBe(30);
  for (const text of ['', 'x', '0', '-1']) expect(inSeconds(text, 'hours')).toBeUndefined();
});
