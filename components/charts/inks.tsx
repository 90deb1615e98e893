/**
 * The color and pattern of a series: two series never differ in color only. Statuses have their own colors. Other series take `one` to
 * `four` in order, which also differ in lightness and have a contrast of at least 3:1 with the surface in both themes.
 */
export type Ink = 'completed' | 'failed' | 'stopped' | 'one' | 'two' | 'three' | 'four';

type Pattern = 'solid' | 'hatched' | 'dotted' | 'lined';
const inks: Record<Ink, { color: string; pattern: Pattern; dash: string }> = {
  completed: { color: 'var(--ok)', pattern: 'solid', dash: '' },
  failed: { color: 'var(--bad)', pattern: 'hatched', dash: '6 3' },
  stopped: { color: 'var(--faint)', pattern: 'dotted', dash: '2 3' },
  one: { color: 'var(--chart-1)', pattern: 'solid', dash: '' },
  two: { color: 'var(--chart-2)', pattern: 'hatched', dash: '6 3' },
  three: { color: 'var(--chart-3)', pattern: 'dotted', dash: '2 3' },
  four: { color: 'var(--chart-4)', pattern: 'lined', dash: '10 3 2 3' },
};

/** Returns the color of lines and edges. */
export const inkColor = (ink: Ink): string => inks[ink].color;
/** Returns the dashes of a line. */
export const inkDash = (ink: Ink): string => inks[ink].dash;
/** Returns the fill of an area or a bar. `scope` is the id of the chart that contains `InkPatterns`. */
export const inkFill = (ink: Ink, scope: string): string =>
  inks[ink].pattern === 'solid' ? inks[ink].color : `url(#${scope}-${ink})`;

/** The patterns that `inkFill` refers to. Each SVG needs them once. */
export function InkPatterns({ scope, used }: { scope: string; used: readonly Ink[] }) {
  return (
    <defs>
      {used.map(ink => {
        const { color, pattern } = inks[ink];
        if (pattern === 'solid') return null;
        return (
          <pattern
            key={ink}
            id={`${scope}-${ink}`}
            width={6}
            height={6}
            patternUnits="userSpaceOnUse"
            patternTransform={pattern === 'hatched' ? 'rotate(45)' : undefined}
          >
            <rect width={6} height={6} fill={color} fillOpacity={0.35} />
            {pattern === 'dotted' ? (
              <circle cx={3} cy={3} r={1.5} fill={color} />
            ) : (
              <rect width={pattern === 'hatched' ? 3 : 6} height={pattern === 'hatched' ? 6 : 2} fill={color} />
            )}
          </pattern>
        );
      })}
    </defs>
  );
}

/** The square beside a series' name. */
export function InkSwatch({ ink, scope }: { ink: Ink; scope: string }) {
  return (
    <svg aria-hidden width={12} height={12} className="shrink-0 rounded-sm">
      <InkPatterns scope={scope} used={[ink]} />
      <rect width={12} height={12} fill={inkFill(ink, scope)} stroke={inkColor(ink)} strokeWidth={2} rx={2} />
    </svg>
  );
}
