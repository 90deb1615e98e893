import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { locateProblem } from './locate-problem.ts';

const text = JSON.stringify(
  {
    steps: [
      { id: 'a', type: 'x' },
      { id: 'b', script: 'return', depends_on: ['a', 'zz'], tool_args: { url: 1 } },
    ],
    output: { total: '{{steps.zz.result}}' },
  },
  null,
  2,
);
const at = (step_id: string | null, path: string) => {
  const range = locateProblem(text, { step_id, path });
  return text.slice(range.from, range.to);
};

describe('the range of a problem in the text', () => {
  it.each([
    ['b', 'script', '"return"'],
    ['b', 'depends_on[1]', '"zz"'],
    ['b', 'tool_args.url', '1'],
    ['b', 'missing', '"b"'],
    ['b', 'depends_on[9]', '[\n        "a",\n        "zz"\n      ]'],
    ['nobody', 'script', '"steps"'],
    [null, '', '"steps"'],
    [null, 'output.total', '"{{steps.zz.result}}"'],
    [null, 'run_setup.trigger_steps.a', '"steps"'],
  ])('%s %s', (step, path, expected) => {
    expect(at(step, path)).toBe(expected);
  });

  it('returns a range inside any text', () => {
    fc.assert(
      fc.property(fc.nat(text.length), fc.nat(text.length), fc.string(), (cut, length, extra) => {
        const broken = text.slice(0, cut) + extra + text.slice(cut + length);
        const range = locateProblem(broken, { step_id: 'b', path: 'depends_on[1]' });
        expect(range.from).toBeGreaterThanOrEqual(0);
        expect(range.to).toBeGreaterThanOrEqual(range.from);
        expect(range.to).toBeLessThanOrEqual(broken.length);
      }),
    );
  });
});
