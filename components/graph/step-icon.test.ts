import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ADDED_STEP_TYPES, STEP_TYPES } from '../../server/orchestrator/steps/descriptions.ts';
import { FAMILY_TILES, stepTypeLook } from './step-icon.tsx';

const css = readFileSync('app/globals.css', 'utf8');
const block = (selector: string) =>
  css.slice(css.indexOf(`${selector} {`), css.indexOf('}', css.indexOf(`${selector} {`)));
const themes = { light: block(':root'), dark: block('.dark') };
const TINT = 0.16;
/** The backgrounds of tiles: panels, pages, the canvas, and a row under the pointer. */
const SURFACES = ['surface', 'bg', 'sunken', 'hover'];

type Rgb = readonly [number, number, number];

function colorOf(theme: string, name: string): Rgb {
  const hex = new RegExp(`--${name}: #([0-9a-f]{6});`).exec(theme)?.[1] ?? '';
  expect(hex, name).toHaveLength(6);
  return [0, 2, 4].map(at => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Rgb;
}

const mixed = (over: Rgb, under: Rgb, part: number): Rgb =>
  over.map((value, at) => value * part + (under[at] ?? 0) * (1 - part)) as unknown as Rgb;

/** The relative luminance of WCAG 2.2. */
function luminance(color: Rgb): number {
  const [red = 0, green = 0, blue = 0] = color.map(value => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: Rgb, other: Rgb): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

const families = Object.keys(FAMILY_TILES);

describe.each(Object.entries(themes))('%s', (_, theme) => {
  test.each(families)('an icon of %s on its tile has a contrast of 3:1 on every surface', family => {
    const color = colorOf(theme, `family-${family}`);
    for (const surface of SURFACES) {
      const tile = mixed(color, colorOf(theme, surface), TINT);
      expect(contrast(color, tile), surface).toBeGreaterThanOrEqual(3);
    }
  });

  test('page, panel and canvas differ', () => {
    const [page, panel, canvas] = ['bg', 'surface', 'sunken'].map(name => luminance(colorOf(theme, name)));
    expect(new Set([page, panel, canvas]).size).toBe(3);
    expect(contrast(colorOf(theme, 'surface'), colorOf(theme, 'sunken'))).toBeGreaterThan(1.08);
  });
});

test('tiles have the tint that is checked', () => {
  for (const tile of Object.values(FAMILY_TILES)) expect(tile).toContain(`/${TINT * 100} `);
});

test('every step type has an icon', () => {
  const unknown = stepTypeLook('unknown').icon;
  for (const type of Object.keys({ ...STEP_TYPES, ...ADDED_STEP_TYPES }))
    expect(stepTypeLook(type).icon, type).not.toBe(unknown);
});
