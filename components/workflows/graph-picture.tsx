import type { CSSProperties } from 'react';
import { edgesOf, type GraphStepInput, layout, nodeSize } from '../graph/layout.ts';
import { stepTypeLook } from '../graph/step-icon.tsx';

const MARGIN = 12;
const TILE = 32;

/** A small picture of a graph: its steps in the colors of their families, and their connections. */
export function GraphPicture({ steps, className }: { steps: readonly GraphStepInput[]; className?: string }) {
  const edges = edgesOf(steps);
  const places = layout(steps, edges);
  const all = [...places.values()];
  const left = Math.min(...all.map(({ x }) => x)) - MARGIN;
  const top = Math.min(...all.map(({ y }) => y)) - MARGIN;
  const width = Math.max(...all.map(({ x }) => x)) + nodeSize.width + MARGIN - left;
  const height = Math.max(...all.map(({ y }) => y)) + nodeSize.height + MARGIN - top;
  return (
    <svg aria-hidden viewBox={`${left} ${top} ${width} ${height}`} className={className}>
      {edges.map(({ id, from, to }) => {
        const [start, end] = [places.get(from), places.get(to)];
        if (!start || !end) return null;
        const [x, y] = [start.x + nodeSize.width / 2, start.y + nodeSize.height];
        const [toX, toY] = [end.x + nodeSize.width / 2, end.y];
        const middle = (y + toY) / 2;
        return (
          <path
            key={id}
            d={`M${x} ${y}C${x} ${middle} ${toX} ${middle} ${toX} ${toY}`}
            fill="none"
            stroke="var(--line-strong)"
            strokeWidth={2.5}
          />
        );
      })}
      {steps.map(step => {
        const at = places.get(step.id);
        return at ? <PictureStep key={step.id} step={step} x={at.x} y={at.y} /> : null;
      })}
    </svg>
  );
}

function PictureStep({ step, x, y }: { step: GraphStepInput; x: number; y: number }) {
  const { icon: Icon, family } = stepTypeLook(step.type);
  const color = `var(--family-${family})`;
  const inset = (nodeSize.height - TILE) / 2;
  const title = { fontSize: 17, fontWeight: 500 } satisfies CSSProperties;
  return (
    <g transform={`translate(${x} ${y})`}>
      <rect
        width={nodeSize.width}
        height={nodeSize.height}
        rx={10}
        fill="var(--surface)"
        stroke="var(--line)"
        strokeWidth={2}
      />
      <rect x={inset} y={inset} width={TILE} height={TILE} rx={7} fill={color} fillOpacity={0.16} />
      <Icon x={inset + 7} y={inset + 7} width={18} height={18} color={color} />
      <text x={inset + TILE + 10} y={nodeSize.height / 2 + 6} fill="var(--text)" style={title}>
        {shortened(step.name ?? step.id)}
      </text>
    </g>
  );
}

const MAX_CHARACTERS = 17;
const shortened = (text: string): string =>
  text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS - 1).trimEnd()}…` : text;
