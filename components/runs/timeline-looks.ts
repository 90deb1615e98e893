import { formatDuration } from '../ui/time.tsx';
import { stepOutcomeLabel } from './outcome.ts';
import type { SegmentKind, TimelineRow } from './timeline-model.ts';

/** The looks of segments. Each kind has its own shape and color, for people who cannot distinguish colors. */
export const segmentLooks: Record<SegmentKind, { label: string; className: string }> = {
  queued: { label: 'Queued', className: 'h-1.5 rounded-full border border-line-strong bg-transparent' },
  running: { label: 'Running', className: 'h-4 rounded-sm bg-info animate-pulse-soft' },
  completed: { label: 'Success', className: 'h-4 rounded-sm bg-ok' },
  failed: { label: 'Failed', className: 'h-4 rounded-none bg-bad' },
  cancelled: { label: 'Cancelled', className: 'h-4 rounded-sm border border-line-strong bg-sunken' },
  waiting: { label: 'Waiting for a person', className: 'h-4 rounded-sm border border-dashed border-warn bg-warn-soft' },
  retry: { label: 'Waiting to retry', className: 'h-0 border-t-2 border-dotted border-warn' },
  called: { label: 'Called run', className: 'h-4 rounded-sm border border-info bg-info-soft' },
  inside: { label: 'Turns, calls and items', className: 'h-1 rounded-full bg-line-strong' },
};
export const segmentKinds = Object.keys(segmentLooks) as SegmentKind[];

/** Returns a description of a row: the outcome, and the duration of each part. */
export function rowInWords({ step, segments }: TimelineRow): string {
  const parts = segments.map(({ kind, from, to }) => `${segmentLooks[kind].label} ${formatDuration(to - from)}`);
  return [stepOutcomeLabel(step), ...parts].join(', ');
}

/** Returns the start and end of a row without the time in a queue; null for a step that did not run. */
export function workOf({ segments }: TimelineRow): { from: number; to: number } | null {
  const work = segments.filter(({ kind }) => kind !== 'queued');
  const [first] = work;
  const last = work.at(-1);
  return first === undefined || last === undefined ? null : { from: first.from, to: last.to };
}
