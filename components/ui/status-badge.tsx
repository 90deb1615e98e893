import {
  Archive,
  Ban,
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CircleDot,
  CirclePause,
  CircleStop,
  CircleX,
  Clock,
  CopyCheck,
  Hourglass,
  type LucideIcon,
  Minus,
  PencilLine,
  Plus,
  RefreshCw,
  SkipForward,
} from 'lucide-react';
import { Badge, type Tone } from './badge.tsx';
import { cx } from './classes.ts';

export type StatusKind = 'run' | 'step' | 'workflow';
export type StatusLook = { label: string; tone: Tone; icon: LucideIcon; live?: boolean };

/** The labels of steps are those of docs/specification/events.md#step-outcomes. */
const looks: Record<StatusKind, Record<string, StatusLook>> = {
  run: {
    running: { label: 'Running', tone: 'info', icon: CircleDot, live: true },
    paused: { label: 'Paused', tone: 'warn', icon: CirclePause },
    completed: { label: 'Completed', tone: 'ok', icon: CircleCheck },
    failed: { label: 'Failed', tone: 'bad', icon: CircleX },
    stopped: { label: 'Stopped', tone: 'neutral', icon: CircleStop },
    rejected: { label: 'Rejected', tone: 'bad', icon: Ban },
    blocked: { label: 'Waiting for a person', tone: 'warn', icon: Hourglass },
    sleeping: { label: 'Waiting', tone: 'info', icon: Clock },
  },
  step: {
    pending: { label: 'Not started', tone: 'neutral', icon: CircleDashed },
    ready: { label: 'Queued', tone: 'neutral', icon: Clock },
    running: { label: 'Running', tone: 'info', icon: CircleDot, live: true },
    retrying: { label: 'Waiting to retry', tone: 'warn', icon: RefreshCw },
    waiting: { label: 'Waiting for a person', tone: 'warn', icon: Hourglass },
    sleeping: { label: 'Waiting', tone: 'info', icon: Clock },
    completed: { label: 'Success', tone: 'ok', icon: CircleCheck },
    failed: { label: 'Failed', tone: 'bad', icon: CircleX },
    cancelled: { label: 'Cancelled', tone: 'neutral', icon: CircleStop },
    skipped: { label: 'Skipped', tone: 'neutral', icon: SkipForward },
    reused: { label: 'Reused', tone: 'neutral', icon: CopyCheck },
    // For a comparison of two versions.
    added: { label: 'Added', tone: 'ok', icon: Plus },
    changed: { label: 'Changed', tone: 'warn', icon: PencilLine },
    removed: { label: 'Removed', tone: 'bad', icon: Minus },
    contains_changes: { label: 'Contains changes', tone: 'neutral', icon: PencilLine },
  },
  workflow: {
    draft: { label: 'Draft', tone: 'neutral', icon: PencilLine },
    published: { label: 'Published', tone: 'ok', icon: CircleCheck },
    archived: { label: 'Archived', tone: 'neutral', icon: Archive },
  },
};

/** Returns the look and label of a status; an unknown status is shown by its code. */
export function statusLook(kind: StatusKind, status: string): StatusLook {
  return looks[kind][status] ?? { label: status, tone: 'neutral', icon: CircleAlert };
}

/**
 * Returns the status that a list shows for a run: a run without an active step waits for a person, or only for a time.
 */
export function shownStatus(run: { status: string; orchestration_phase: string; pending_tasks: number }): string {
  if (run.status !== 'running' || run.orchestration_phase !== 'blocked') return run.status;
  return run.pending_tasks > 0 ? 'blocked' : 'sleeping';
}

/** An icon and a label, never only a color. `detail` is added in brackets, as in "Skipped (blocked)". */
export function StatusBadge({
  kind,
  status,
  detail,
  className,
}: {
  kind: StatusKind;
  status: string;
  detail?: string | null;
  className?: string;
}) {
  const look = statusLook(kind, status);
  const Icon = look.icon;
  return (
    <Badge
      tone={look.tone}
      className={className}
      icon={<Icon aria-hidden className={cx('size-3', look.live && 'animate-pulse-soft')} />}
    >
      {look.label}
      {detail ? ` (${detail.replaceAll('_', ' ')})` : null}
    </Badge>
  );
}
