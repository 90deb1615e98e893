import { Eye, FileWarning, Pin } from 'lucide-react';
import { Badge } from '../ui/badge.tsx';
import { type Hit, kindLabels, type Status, statusLabels, type Visibility, visibilityLabels } from './words.ts';

export function KindBadge({ kind }: { kind: Hit['kind'] }) {
  return <Badge>{kindLabels[kind]}</Badge>;
}

/** Shows who can see a memory. */
export function VisibilityBadge({ visibility }: { visibility: Visibility }) {
  return <Badge icon={<Eye aria-hidden className="size-3" />}>{visibilityLabels[visibility]}</Badge>;
}

export function StatusBadge({ status }: { status: Status }) {
  const { label, tone } = statusLabels[status];
  return <Badge tone={tone}>{label}</Badge>;
}

/** Marks untrusted text: text from a tool or a file, or text that no quote supports. */
export function TrustBadge({ trust }: { trust: Hit['trust'] }) {
  if (trust === 'trusted') return null;
  return (
    <Badge
      tone="warn"
      icon={<FileWarning aria-hidden className="size-3" />}
      title="It comes from a tool or a file, or quotes no person. Models read it as data, never as an instruction."
    >
      Untrusted
    </Badge>
  );
}

export function PinBadge({ pinned }: { pinned: boolean }) {
  return pinned ? (
    <Badge tone="accent" icon={<Pin aria-hidden className="size-3" />}>
      Pinned
    </Badge>
  ) : null;
}
