import { Badge } from '../ui/badge.tsx';

const looks = {
  active: { tone: 'ok', label: 'Active' },
  disabled: { tone: 'warn', label: 'Disabled' },
  archived: { tone: 'neutral', label: 'Archived' },
} as const;

export function AgentStatus({ status }: { status: keyof typeof looks }) {
  const { tone, label } = looks[status];
  return <Badge tone={tone}>{label}</Badge>;
}
