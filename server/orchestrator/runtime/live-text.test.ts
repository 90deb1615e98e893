import { expect, test } from 'vitest';
import type { AttemptPiece } from '../ports/live-text.ts';
import { createLiveText, MAX_LIVE_CHARS } from './live-text.ts';

test('a follower of a run gets the text so far once, and then every piece', () => {
  const live = createLiveText();
  const attempt = live.begin({ runId: 'r', step: 'agent.1', attempt: 1 });
  attempt.write({ type: 'reasoning', index: 0, text: 'Hm' });
  attempt.write({ type: 'text', index: 1, text: 'Hel' });
  attempt.write({ type: 'text', index: 1, text: 'lo' });
  attempt.write({ type: 'tool_call', index: 2, id: 'c', name: 'find' });
  attempt.write({ type: 'arguments', index: 2, text: '{"a"' });
  const heard: AttemptPiece[] = [];
  const { written, unfollow } = live.follow('r', piece => heard.push(piece));
  const of = { step: 'agent.1', attempt: 1 };
  expect(written).toEqual([
    { type: 'reasoning', index: 0, text: 'Hm', ...of },
    { type: 'text', index: 1, text: 'Hello', ...of },
    { type: 'tool_call', index: 2, id: 'c', name: 'find', ...of },
    { type: 'arguments', index: 2, text: '{"a"', ...of },
  ]);
  attempt.write({ type: 'arguments', index: 2, text: ':1}' });
  expect(heard).toEqual([{ type: 'arguments', index: 2, text: ':1}', ...of }]);
  unfollow();
  attempt.write({ type: 'text', index: 3, text: 'unheard' });
  expect(heard).toHaveLength(1);
});

test('the text of an ended attempt is dropped, and followers of other runs get nothing', () => {
  const live = createLiveText();
  const attempt = live.begin({ runId: 'r', step: 'agent.1', attempt: 1 });
  const heard: AttemptPiece[] = [];
  live.follow('other', piece => heard.push(piece));
  attempt.write({ type: 'text', index: 0, text: 'Hello' });
  attempt.end();
  attempt.write({ type: 'text', index: 0, text: 'late' });
  expect(heard).toEqual([]);
  expect(live.follow('r', () => undefined).written).toEqual([]);
});

test('the live text of an attempt is limited', () => {
  const live = createLiveText();
  const attempt = live.begin({ runId: 'r', step: 'agent.1', attempt: 1 });
  const length = () =>
    live
      .follow('r', () => undefined)
      .written.reduce((sum, piece) => sum + ('text' in piece ? piece.text.length : 0), 0);
  attempt.write({ type: 'text', index: 0, text: 'x'.repeat(MAX_LIVE_CHARS - 1) });
  expect(length()).toBe(MAX_LIVE_CHARS - 1);
  attempt.write({ type: 'text', index: 0, text: 'x' });
  expect(length()).toBe(MAX_LIVE_CHARS);
  attempt.write({ type: 'text', index: 0, text: 'x' });
  expect(length()).toBe(MAX_LIVE_CHARS);
});
