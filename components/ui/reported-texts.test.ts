import { describe, expect, it } from 'vitest';
import { ReportedTexts } from './reported-texts.ts';

describe('ReportedTexts', () => {
  it('recognizes a reported text, even if more was typed since', () => {
    const reported = new ReportedTexts();
    reported.report('a');
    reported.report('ab');
    reported.report('abc');
    expect(reported.isReported('ab')).toBe(true);
    expect(reported.isReported('abc')).toBe(true);
  });

  it('does not recognize a text that was never reported, or was already passed back', () => {
    const reported = new ReportedTexts();
    expect(reported.isReported('theirs')).toBe(false);
    reported.report('mine');
    expect(reported.isReported('mine')).toBe(true);
    expect(reported.isReported('mine')).toBe(false);
  });

  it('forgets all reported texts when another text arrives', () => {
    const reported = new ReportedTexts();
    reported.report('mine');
    expect(reported.isReported('theirs')).toBe(false);
    expect(reported.isReported('mine')).toBe(false);
  });
});
