'use client';
import { useQuery } from '@tanstack/react-query';
import { GitCompareArrows } from 'lucide-react';
import { useMemo } from 'react';
import { type RunState, type Snapshot, stateOf } from '@/server/domains/runs/reading/run-state.ts';
import { DiffersMark } from '../graph/step-card.tsx';
import { useOpenedLoops } from '../graph/use-opened-loops.ts';
import { useTRPC } from '../trpc/provider.tsx';
import { cx } from '../ui/classes.ts';
import { ScrollRegion } from '../ui/scroll-region.tsx';
import { Select } from '../ui/select.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { EmptyState, ErrorState } from '../ui/states.tsx';
import { StatusBadge, statusLook } from '../ui/status-badge.tsx';
import { formatDuration, formatLocal } from '../ui/time.tsx';
import { type ComparedItems, type ComparedStep, type Comparison, compareRuns, itemsOfBoth } from './compare-model.ts';
import { ItemSwitcher } from './item-switcher.tsx';
import { nodeOfStep } from './loop-place.ts';
import { shownStatus, waitsFor } from './outcome.ts';
import { DrawnRunGraph, type Steps } from './run-graph.tsx';
import { runOf } from './run-of.tsx';
import { StepResult } from './run-output.tsx';
import { RunInput } from './run-values.tsx';
import { type Called, StepName, stepNames } from './step-names.tsx';
import { useLoopsDrawn } from './use-loops-drawn.tsx';

type Side = { snapshot: Snapshot; state: RunState; steps: Steps };
type Props = {
  here: Side;
  /** Counts the changes of `here.state`, because the state is mutated in place. */
  revision: number;
  /** The id of the other run; empty while no run is chosen. */
  other: string;
  onOther: (runId: string) => void;
  selected: string | null;
  onSelect: (step: string | null) => void;
};

/** Shows two runs of a workflow side by side: graph, outcomes, durations, input, and the results of the selected step. */
export function RunComparison(props: Props) {
  const { here, other, onOther } = props;
  return (
    <div className="flex flex-col gap-4">
      <OtherRun here={here.snapshot} value={other} onChange={onOther} />
      {other ? (
        <Beside key={other} {...props} />
      ) : (
        <div className="rounded-lg border bg-surface">
          <EmptyState icon={GitCompareArrows} title="Choose a run to compare with">
            Compare its graph, durations, input and results with this run’s.
          </EmptyState>
        </div>
      )}
    </div>
  );
}

function OtherRun({ here, value, onChange }: { here: Snapshot; value: string; onChange: (runId: string) => void }) {
  const trpc = useTRPC();
  const runs = useQuery(trpc.workflows_list_runs.queryOptions({ id: here.workflow_id, limit: 50 }));
  if (runs.isError) return <ErrorState error={runs.error} onRetry={() => void runs.refetch()} />;
  if (runs.isPending) return <Skeleton className="h-8 w-80 max-w-full" />;
  const listed = runs.data.runs.filter(run => run.run_id !== here.run_id);
  const options = listed.map(run => ({
    value: run.run_id,
    label: `${formatLocal(run.started_at)} · ${statusLook('run', run.status).label} · ${run.test ? 'draft' : `v${run.version}`}`,
  }));
  // A link may name a run that is older than the listed runs.
  if (value && !listed.some(run => run.run_id === value)) options.push({ value, label: runOf(value) });
  if (options.length === 0) return <p className="text-sm text-muted">This workflow has no other runs yet.</p>;
  return (
    <Select
      label="Compare with"
      placeholder="Compare with…"
      className="w-100 max-w-full"
      value={value || undefined}
      onChange={onChange}
      options={options}
    />
  );
}

function Beside({ here, revision, other, selected, onSelect }: Props) {
  const trpc = useTRPC();
  const id = here.snapshot.workflow_id;
  const snapshot = useQuery(trpc.runs_get_snapshot.queryOptions({ id, runID: other }));
  const version = useQuery(
    trpc.workflows_get_version.queryOptions(
      { id, version: snapshot.data?.version ?? 1 },
      { enabled: snapshot.data !== undefined, staleTime: Number.POSITIVE_INFINITY },
    ),
  );
  const there = useMemo((): Side | null => {
    if (!snapshot.data || !version.data) return null;
    const { steps } = version.data.graph_snapshot;
    const ids = steps.map(step => step.id);
    return { snapshot: snapshot.data, state: stateOf(snapshot.data, ids), steps };
  }, [snapshot.data, version.data]);
  const failed = snapshot.error ?? version.error;
  if (failed) return <ErrorState error={failed} onRetry={() => void snapshot.refetch()} />;
  if (there === null) return <Skeleton className="h-100 w-full" />;
  return <BothRuns sides={[here, there]} revision={revision} selected={selected} onSelect={onSelect} />;
}

type BothProps = Pick<Props, 'revision' | 'selected' | 'onSelect'> & { sides: readonly [Side, Side] };

/** The loops are open in both graphs or in none, and both show the same item. */
function BothRuns({ sides: [here, there], revision, selected, onSelect }: BothProps) {
  const loops = useOpenedLoops(here.steps);
  const shared = { isOpen: loops.isOpen, selected, onSelect };
  const ofHere = useLoopsDrawn({ ...here, ...shared, run: refOf(here) });
  const ofThere = useLoopsDrawn({ ...there, ...shared, run: refOf(there) });
  const rows = compareRuns({ state: here.state, loops: ofHere }, { state: there.state, loops: ofThere });
  const nodes = JSON.stringify(rows.filter(row => row.differs).map(({ node }) => node));
  const differing = useMemo(() => new Set<string>(JSON.parse(nodes) as string[]), [nodes]);
  const called = stepNames(here.steps, there.steps);
  const items = itemsOfBoth(ofHere, ofThere);
  return (
    <>
      {items.length === 0 ? null : (
        <ItemsOfBoth items={items} called={called} selected={selected} onSelect={onSelect} />
      )}
      <Columns>
        {[here, there].map((side, index) => (
          <div key={side.snapshot.run_id} className="flex min-w-0 flex-col gap-2">
            <SideTitle side={side} name={nameOf(index)} />
            <DrawnRunGraph
              label={`Graph of ${nameOf(index).toLowerCase()}`}
              className="h-80 lg:h-110"
              steps={side.steps}
              state={side.state}
              revision={index === 0 ? revision : 0}
              selected={selected}
              onSelect={onSelect}
              loops={loops}
              drawn={index === 0 ? ofHere : ofThere}
              differing={differing}
            />
          </div>
        ))}
      </Columns>
      <StepTable rows={rows} called={called} selected={selected} onSelect={onSelect} />
      <h2 className="text-sm font-semibold">Input</h2>
      <Columns>
        {[here, there].map((side, index) => (
          <RunInput key={side.snapshot.run_id} {...refOf(side)} label={`Input of ${nameOf(index).toLowerCase()}`} />
        ))}
      </Columns>
      <Results sides={[here, there]} rows={rows} called={called} selected={selected} />
    </>
  );
}

type ItemsProps = Pick<BothProps, 'selected' | 'onSelect'> & { items: readonly ComparedItems[]; called: Called };

/** Chooses the items of the open loops that both graphs show. */
function ItemsOfBoth({ items, called, selected, onSelect }: ItemsProps) {
  // The selected step stays selected in another item.
  const inside = ({ id, node }: ComparedItems) => {
    const selectedNode = nodeOfStep(selected ?? '');
    return selected?.startsWith(`${id}.`) && selectedNode.startsWith(`${node}.`)
      ? `.${selectedNode.slice(node.length + 1).split('.')[0]}`
      : '';
  };
  return (
    <ul aria-label="Items of both runs" className="flex flex-wrap gap-x-6 gap-y-2">
      {items.map(loop => (
        <li key={loop.node} className="flex max-w-full flex-wrap items-center gap-x-3">
          <span className="text-sm font-medium">
            <StepName id={loop.id} name={called(loop.id)} />
          </span>
          <span className="w-72 max-w-full">
            <ItemSwitcher found={loop} index={loop.index} onGo={to => onSelect(`${loop.id}.${to}${inside(loop)}`)} />
          </span>
        </li>
      ))}
    </ul>
  );
}

const refOf = ({ snapshot }: Side) => ({ workflowId: snapshot.workflow_id, runId: snapshot.run_id });

type ResultsProps = Pick<BothProps, 'sides' | 'selected'> & { rows: readonly Comparison[]; called: Called };

/** The results of the selected step in both runs. */
function Results({ sides, rows, called, selected }: ResultsProps) {
  const row = rowOfStep(rows, selected);
  if (row === undefined) return null;
  return (
    <>
      <h2 className="text-sm font-semibold">
        Result of <StepName id={row.id} name={called(row.id)} />
      </h2>
      <Columns>
        {sides.map((side, index) =>
          (index === 0 ? row.here : row.there)?.status === 'completed' ? (
            <StepResult
              key={side.snapshot.run_id}
              {...refOf(side)}
              step={row.id}
              level={3}
              title={`Result in ${nameOf(index).toLowerCase()}`}
            />
          ) : (
            <p key={side.snapshot.run_id} className="text-sm text-muted">
              {nameOf(index)} has no result for this step.
            </p>
          ),
        )}
      </Columns>
    </>
  );
}

/** Returns the row of a selected step, or of the loop if an item or a step of a closed loop is selected. */
function rowOfStep(rows: readonly Comparison[], selected: string | null): Comparison | undefined {
  for (let id = selected ?? ''; id !== ''; id = id.slice(0, Math.max(0, id.lastIndexOf('.')))) {
    const row = rows.find(each => each.id === id);
    if (row !== undefined) return row;
  }
  return undefined;
}

const nameOf = (index: number): string => (index === 0 ? 'This run' : 'The other run');

const Columns = ({ children }: { children: React.ReactNode }) => (
  <div className="grid grid-cols-[minmax(0,1fr)] gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">{children}</div>
);

function SideTitle({ side: { snapshot, state, steps }, name }: { side: Side; name: string }) {
  const status = state.status ?? snapshot.status;
  const took = state.endedAt === null ? null : state.endedAt - Date.parse(snapshot.started_at);
  return (
    <h2 className="flex flex-wrap items-center gap-2 text-sm font-semibold">
      {name}
      <StatusBadge kind="run" status={shownStatus(status, waitsFor(state, steps))} />
      <span className="font-normal text-muted tabular-nums">
        {snapshot.test ? 'draft' : `v${snapshot.version}`}
        {took === null ? '' : `, ${formatDuration(took)}`}
      </span>
    </h2>
  );
}

const MAX_ROWS = 200;

type TableProps = {
  rows: readonly Comparison[];
  called: (id: string) => string;
  selected: string | null;
  onSelect: (step: string) => void;
};

/** Lists differing steps first, so that people see them in a large run too. */
function StepTable({ rows, called, selected, onSelect }: TableProps) {
  const differing = rows.filter(row => row.differs).length;
  const current = rowOfStep(rows, selected)?.id;
  const shown = [...rows].sort((a, b) => Number(b.differs) - Number(a.differs)).slice(0, MAX_ROWS);
  return (
    <section aria-label="Steps of both runs" className="flex flex-col gap-2">
      <p className="text-sm text-muted tabular-nums">
        {differing === 0 ? 'All steps ended the same way.' : `${differing} of ${rows.length} steps ended differently.`}
      </p>
      <ScrollRegion label="Outcomes" className="max-h-120 overflow-auto rounded-lg border bg-surface">
        <table className="w-full text-left text-sm">
          <thead className="text-xs text-muted">
            <tr>
              {['Step', 'This run', 'The other run', 'Difference'].map(title => (
                <th key={title} scope="col" className="px-3 py-2 font-medium">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map(row => (
              <tr key={row.id} className={cx('border-t', row.id === current && 'bg-accent-soft')}>
                <th scope="row" className="px-3 py-1.5 font-normal">
                  <button
                    type="button"
                    aria-pressed={row.id === current}
                    onClick={() => onSelect(row.id)}
                    className="min-h-6 text-left text-accent-text hover:underline"
                  >
                    <StepName id={row.id} name={called(row.id)} />
                  </button>
                  {row.differs ? (
                    <>
                      {' '}
                      <DiffersMark />
                    </>
                  ) : null}
                </th>
                <Outcome row={row} step={row.here} />
                <Outcome row={row} step={row.there} />
                <td className="px-3 py-1.5 whitespace-nowrap text-muted tabular-nums">{difference(row)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      {rows.length > shown.length ? (
        <p className="text-xs text-muted">and {rows.length - shown.length} more steps</p>
      ) : null}
    </section>
  );
}

function Outcome({ row, step }: { row: Comparison; step: ComparedStep }) {
  const absent = row.node === row.id ? 'Not in this version' : 'Not in this item';
  return (
    <td className="px-3 py-1.5 whitespace-nowrap text-muted tabular-nums">
      {step === null ? absent : step.outcome}
      {step !== null && step.durationMs !== null ? `, ${formatDuration(step.durationMs)}` : ''}
    </td>
  );
}

function difference({ here, there }: Comparison): string {
  if (here?.durationMs == null || there?.durationMs == null) return '';
  const ms = there.durationMs - here.durationMs;
  if (ms === 0) return 'as long';
  return `${formatDuration(Math.abs(ms))} ${ms > 0 ? 'longer' : 'shorter'}`;
}
