import {
  Blocks,
  Bot,
  CircleHelp,
  Clock,
  FileCode2,
  FoldVertical,
  GitFork,
  Globe,
  type LucideIcon,
  Repeat,
  Sparkles,
  UserRoundCheck,
  Workflow,
} from 'lucide-react';
import { stepTypeDescription } from '@/server/orchestrator/steps/descriptions.ts';

const icons: Readonly<Record<string, LucideIcon>> = {
  'file-code': FileCode2,
  'git-fork': GitFork,
  'user-check': UserRoundCheck,
  blocks: Blocks,
  bot: Bot,
  'fold-vertical': FoldVertical,
  globe: Globe,
  clock: Clock,
  repeat: Repeat,
  sparkles: Sparkles,
  workflow: Workflow,
};

/** How a step type looks and reads; an unknown one (a draft may hold it) is shown by its own name. */
export function stepTypeLook(type: string): { icon: LucideIcon; label: string } {
  const description = stepTypeDescription(type);
  return { icon: icons[description?.icon ?? ''] ?? CircleHelp, label: description?.label ?? type };
}
