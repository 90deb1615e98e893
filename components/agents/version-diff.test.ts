import { expect, test } from 'vitest';
import { type AgentVersion, diffLines, diffSettings } from './version-diff.ts';

const settings: AgentVersion['settings'] = {
  model: 'openai/gpt-5',
  instructions: 'One.\nTwo.\nThree.',
  tools: [],
  limits: { max_turns: 25, max_tool_calls: 100, timeout_s: 3_600 },
  on_limit: 'answer',
};
const marks = { same: ' ', added: '+', removed: '-' };
const text = (lines: ReturnType<typeof diffLines>) => lines.map(({ kind, text }) => `${marks[kind]}${text}`);

test('common lines are kept, also between changed lines', () => {
  expect(text(diffLines('a\nb\nc\nd', 'a\nx\nc\nd\ne'))).toEqual([' a', '-b', '+x', ' c', ' d', '+e']);
  expect(text(diffLines('', 'a'))).toEqual(['+a']);
  expect(text(diffLines('a', ''))).toEqual(['-a']);
  expect(diffLines('', '')).toEqual([]);
});

test('a text with too many lines is shown as removed and added', () => {
  const long = Array.from({ length: 1_001 }, (_, n) => `${n}`).join('\n');
  const lines = diffLines(long, `${long}\nend`);
  expect(lines.filter(({ kind }) => kind === 'same')).toEqual([]);
  expect(lines).toHaveLength(1_001 + 1_002);
});

test('only changed settings are shown', () => {
  expect(diffSettings(settings, settings)).toEqual([]);
  const changed = diffSettings(settings, { ...settings, instructions: 'One.\n2.\nThree.', temperature: 1 });
  expect(changed.map(({ field, lines }) => [field, text(lines)])).toEqual([
    ['instructions', [' One.', '-Two.', '+2.', ' Three.']],
    ['temperature', ['+1']],
  ]);
  expect(diffSettings(null, settings).map(({ field }) => field)).toEqual(
    Object.keys(settings).filter(name => name !== 'x'),
  );
});
