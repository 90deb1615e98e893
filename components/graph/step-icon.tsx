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
import type { StepFamily } from '@/server/orchestrator/ports/step-type.ts';
import { stepTypeDescription } from '@/server/orchestrator/steps/descriptions.ts';
import { cx } from '../ui/classes.ts';

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

/** The color of a family's icons on its tint (app/globals.css). */
export const FAMILY_TILES: Readonly<Record<StepFamily, string>> = {
  logic: 'bg-family-logic/16 text-family-logic',
  code: 'bg-family-code/16 text-family-code',
  people: 'bg-family-people/16 text-family-people',
  requests: 'bg-family-requests/16 text-family-requests',
  ai: 'bg-family-ai/16 text-family-ai',
  workflows: 'bg-family-workflows/16 text-family-workflows',
};

type StepLook = { icon: LucideIcon; label: string; family: StepFamily };

/** Returns the icon, family and label of a step type. Drafts may have unknown types; their label is the type. */
export function stepTypeLook(type: string): StepLook {
  const description = stepTypeDescription(type);
  return {
    icon: icons[description?.icon ?? ''] ?? CircleHelp,
    label: description?.label ?? type,
    family: description?.family ?? 'workflows',
  };
}

const sizes = {
  sm: { tile: 'size-5 rounded-sm', icon: 'size-3.5' },
  md: { tile: 'size-7 rounded-md', icon: 'size-4' },
  lg: { tile: 'size-8 rounded-md', icon: 'size-4.5' },
};

type StepTileProps = {
  type: string;
  size?: keyof typeof sizes;
  /** Whether the step is disabled. The icon is then struck out and has no color. */
  struck?: boolean;
  className?: string;
};

/** The icon of a step type on the tint of its family: the same on the canvas, in lists, palettes and legends. */
export function StepTile({ type, size = 'md', struck = false, className }: StepTileProps) {
  const { icon: Icon, family } = stepTypeLook(type);
  return (
    <span
      aria-hidden
      data-family={family}
      className={cx(
        'relative inline-flex shrink-0 items-center justify-center',
        sizes[size].tile,
        struck ? 'bg-hover text-faint' : FAMILY_TILES[family],
        className,
      )}
    >
      <Icon className={sizes[size].icon} />
      {struck ? <span className="absolute h-0.5 w-[120%] -rotate-45 rounded-full bg-faint" /> : null}
    </span>
  );
}

/** The tile and the name of a step type, for legends and lists of types. */
export function StepTypeLabel({ type }: { type: string }) {
  return (
    <span className="inline-flex max-w-full items-center gap-2 align-bottom">
      <StepTile type={type} size="sm" />
      <span className="truncate">{stepTypeLook(type).label}</span>
    </span>
  );
}
