import { expect, test } from 'vitest';
import type { WireEvent } from '@/server/domains/runs/reading/run-state.ts';
import { eventNames } from './event-names.ts';
import { eventInWords } from './event-text.ts';
import { runOf } from './run-of.tsx';
import { stepNames } from './step-names.tsx';

const [workflow, person, run] = ['a', 'b', 'c'].map(letter => `0198c0de-7a2b-7cc3-9d1e-3f2b8a6c4d1${letter}`) as [
  string,
  string,
  string,
];
const called = stepNames([
  { id: 'ask', name: 'Ask Finance' },
  { id: 'each', name: 'Each order', steps: [{ id: 'pay', name: 'Pay' }] },
  { id: 'nameless' },
]);
const things = [
  { id: workflow, name: 'Print the invoice' },
  { id: person, name: 'Ada Lovelace' },
];
const nameOf = eventNames(things, called);

test('workflows, agents, instances, connections and people have their names in any field', () => {
  expect(nameOf(workflow, 'workflow_id')).toBe('Print the invoice');
  expect(nameOf(person, 'by')).toBe('Ada Lovelace');
  expect(nameOf(person, null)).toBe('Ada Lovelace');
});

test('steps have their names where an event names a step, with the number of their item in a loop', () => {
  expect(['step_id', 'caused_by_step_id', 'from_step'].map(field => nameOf('ask', field))).toEqual(
    Array(3).fill('Ask Finance'),
  );
  expect(nameOf('each.3.pay', 'id')).toBe('Pay, item 4');
  expect(nameOf('each.3.pay', 'step_id')).toBe('Pay, item 4');
});

test('runs are named by their time', () => {
  for (const field of ['run_id', 'root_run_id', 'parent_run_id']) expect(nameOf(run, field)).toBe(runOf(run));
  expect(runOf(run)).not.toContain(run);
});

test('unknown step ids and steps without a name stay unchanged', () => {
  expect(nameOf('ask', 'title')).toBeUndefined();
  expect(nameOf('ask', 'id')).toBeUndefined();
  expect(nameOf('nameless', 'step_id')).toBeUndefined();
  expect(nameOf(run, 'order_id')).toBeUndefined();
});

test('the line of a call names the workflow, or the run if the user may not see the workflow', () => {
  const event = { event_type: 'child_called', data: { workflow_id: workflow, run_id: run, version: 2 } };
  expect(eventInWords(event as unknown as WireEvent, nameOf)).toBe('Print the invoice, version 2');
  expect(eventInWords(event as unknown as WireEvent, eventNames([], called))).toBe(`${runOf(run)}, version 2`);
});
