import { expect, test } from 'vitest';
import { placeInSteps, withoutEscapes } from './json-place.ts';

/** Returns what `placeInSteps` says about the position of `|` in a text. */
const placeIn = (marked: string) => placeInSteps(marked.replace('|', ''), marked.indexOf('|'));

test('a position in the JSON of steps has the ids of the enclosing steps', () => {
  expect(placeIn('[{"id": "a", "type": "wait", "until": "{{|"}, {"id": "b"}]')).toEqual({ ids: ['a'], code: null });
  expect(placeIn('[{"type": "for_each", "steps": [{"id": "c", "x": {"y": ["|"]}}], "id": "b"}]').ids).toEqual([
    'b',
    'c',
  ]);
  expect(placeIn('|').ids).toEqual([]);
  expect(placeIn('[{"instructions": "|"}]').ids).toEqual(['']);
});

test('scripts and expressions are code, even if their string is not closed', () => {
  const closed = '[{"id": "a", "script": "return |item"}]';
  expect(placeIn(closed)).toEqual({ ids: ['a'], code: { language: 'lua', from: closed.indexOf('return') } });
  const open = '[{"id": "a", "expression": "item.|';
  expect(placeIn(open)).toEqual({ ids: ['a'], code: { language: 'cel', from: open.indexOf('item') } });
  expect(placeIn('[{"id": "a", "script"|: "x"}]').code).toBeNull();
  expect(placeIn('[{"id": "a", "tool_args": {"body": "|"}}]').code).toBeNull();
});

test('escape sequences in a string become spaces of the same length', () => {
  expect(withoutEscapes('a\\nitem.\\"')).toBe('a  item.  ');
});
