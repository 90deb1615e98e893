'use client';
import { useQuery } from '@tanstack/react-query';
import { Bot, type LucideIcon, Waypoints, Workflow } from 'lucide-react';
import type { Mention } from '@/server/operation/mentions.ts';
import { useSession } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { cx } from '../ui/classes.ts';
import { shownStatus, statusLook } from '../ui/status-badge.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { useDebounced } from '../ui/use-debounced.ts';

type Kind = 'Workflow' | 'Agent' | 'Run';
/** A workflow, agent or run that can be mentioned. `about` distinguishes the runs of a workflow. */
export type Entry = Mention & { kind: Kind; about: { status: string; at: string } | null };

const MAX_PER_KIND = 4;
const icons: Record<Kind, LucideIcon> = { Workflow, Agent: Bot, Run: Waypoints };

/** Returns the project's workflows, agents and runs that match the query; none for null. */
export function useMentionEntries(query: string | null): readonly Entry[] {
  const trpc = useTRPC();
  const { project } = useSession().scope;
  const typed = (query ?? '').trim();
  const settled = useDebounced(typed, 150);
  const q = settled === '' ? {} : { q: settled };
  const enabled = query !== null;
  const workflows = useQuery(
    trpc.workflows_list.queryOptions({ limit: MAX_PER_KIND, graphs: false, ...q }, { enabled }),
  );
  const agents = useQuery(trpc.agents_list.queryOptions({ limit: MAX_PER_KIND, status: 'active', ...q }, { enabled }));
  const runs = useQuery(trpc.runs_list_tenant.queryOptions({ limit: 2 * MAX_PER_KIND, ...q }, { enabled }));
  // Results of an older query are hidden, so that no key press can choose one.
  if (!enabled || settled !== typed) return [];
  return [
    ...(workflows.data?.workflows ?? []).map(
      ({ id, name }): Entry => ({ kind: 'Workflow', name, href: `/workflows/${id}`, about: null }),
    ),
    ...(agents.data?.agents ?? []).map(
      ({ id, name }): Entry => ({ kind: 'Agent', name, href: `/agents/${id}`, about: null }),
    ),
    ...(runs.data?.runs ?? [])
      .filter(({ project_id }) => project_id === project)
      .slice(0, MAX_PER_KIND)
      .map((run): Entry => {
        const href = `/workflows/${run.workflow_id}/runs/${run.run_id}`;
        const about = { status: statusLook('run', shownStatus(run)).label, at: run.started_at };
        return { kind: 'Run', name: `Run of ${run.workflow_name}`, href, about };
      }),
  ];
}

type Props = {
  id: string;
  entries: readonly Entry[];
  selected: number;
  onSelect: (index: number) => void;
  onChoose: (entry: Entry) => void;
};

/** The list of mentions above the field. The field keeps the focus. */
export function MentionList({ id, entries, selected, onSelect, onChoose }: Props) {
  return (
    <div
      id={id}
      role="listbox"
      aria-label="Mention"
      className="absolute bottom-full left-0 z-50 mb-1 max-h-72 w-full max-w-110 overflow-y-auto rounded-lg border bg-surface p-1 shadow-pop"
    >
      {entries.map((entry, index) => {
        const { kind, name, href, about } = entry;
        const Icon = icons[kind];
        return (
          // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus, and names the chosen option
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field
          <div
            key={href}
            id={optionId(id, index)}
            ref={index === selected ? scrollIntoView : null}
            role="option"
            aria-selected={index === selected}
            onMouseDown={event => event.preventDefault()}
            onMouseMove={() => onSelect(index)}
            onClick={() => onChoose(entry)}
            className={cx(
              'flex cursor-default items-center gap-2 rounded-md px-2 py-1.5 text-sm',
              index === selected && 'bg-hover',
            )}
          >
            <Icon aria-hidden className="size-3.5 shrink-0 text-muted" />
            <span className="min-w-0 flex-1 truncate">{name}</span>
            <span className="shrink-0 text-xs text-muted">
              {about === null ? (
                kind
              ) : (
                <>
                  {about.status} · <RelativeTime at={about.at} />
                </>
              )}
            </span>
          </div>
        );
      })}
    </div>
  );
}

export const optionId = (list: string, index: number): string => `${list}-${index}`;

const scrollIntoView = (option: HTMLElement | null) => option?.scrollIntoView({ block: 'nearest' });
