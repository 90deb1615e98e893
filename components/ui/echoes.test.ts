import { describe, expect, it } from 'vitest';
import { Echoes } from './echoes.ts';

describe('what comes back to an editor', () => {
  it('is its own text, also when more was typed meanwhile', () => {
    const echoes = new Echoes();
    echoes.tell('a');
    echoes.tell('ab');
    echoes.tell('abc');
    expect(echoes.hears('ab')).toBe(true);
    expect(echoes.hears('abc')).toBe(true);
  });

  it("is another's where it was never told, or came back before", () => {
    const echoes = new Echoes();
    expect(echoes.hears('theirs')).toBe(false);
    echoes.tell('mine');
    expect(echoes.hears('mine')).toBe(true);
    expect(echoes.hears('mine')).toBe(false);
  });

  it("is another's after another's text, whatever was on its way", () => {
    const echoes = new Echoes();
    echoes.tell('mine');
    expect(echoes.hears('theirs')).toBe(false);
    expect(echoes.hears('mine')).toBe(false);
  });
});
