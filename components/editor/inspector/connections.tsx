'use client';
import { Plus, X } from 'lucide-react';
import { useMemo, useRef } from 'react';
import type { Branch, Draft, Step } from '../../../server/domains/workflows/edits/index.ts';
import type { GraphEdge, GraphStepInput } from '../../graph/layout.ts';
import { IconButton } from '../../ui/button.tsx';
import { type SearchOption, SearchSelect } from '../../ui/search-select.tsx';
import { Select } from '../../ui/select.tsx';
import { hasBranches } from '../canvas/flow-elements.ts';
import type { Place } from '../editor-actions.ts';
import type { StepsStore } from '../loop-store.ts';
import type { Editor } from '../use-editor.ts';
import { type FarEnd, unconnectable } from './connectable.ts';

type Props = { store: StepsStore; editor: Editor; step: Step; editable: boolean; onAdd: (place: Place) => void };

const nameOf = (draft: Draft, id: string): string => {
  const name = draft.graph.steps.find(step => step.id === id)?.name;
  return typeof name === 'string' && name !== '' ? name : id;
};

/** Lists the steps before and after a step, with the branches of conditions. */
export function Connections(props: Props) {
  const { editor, step } = props;
  const before = editor.drawing.edges.filter(edge => edge.to === step.id);
  const after = editor.drawing.edges.filter(edge => edge.from === step.id);
  return (
    <>
      <ConnectionList {...props} title="Runs after" edges={before} farEnd="from" />
      <ConnectionList {...props} title="Followed by" edges={after} farEnd="to" />
    </>
  );
}

type ListProps = Props & { title: string; edges: readonly GraphEdge[]; farEnd: FarEnd };

function ConnectionList({ title, edges, farEnd, ...props }: ListProps) {
  const { editor, editable, store } = props;
  const { draft } = store.state;
  return (
    <section aria-label={title} className="flex flex-col gap-1">
      <h3 className="text-sm font-medium">{title}</h3>
      {edges.length === 0 ? (
        <p className="text-xs text-muted">
          {farEnd === 'from' ? 'Nothing. This step runs first.' : 'Nothing. This is the last step.'}
        </p>
      ) : null}
      <ul className="flex flex-col gap-1">
        {edges.map(edge => (
          <li key={edge.id} className="flex items-center gap-1">
            <button
              type="button"
              onClick={() => editor.show([edge[farEnd]], 'stays')}
              className="min-w-0 flex-1 truncate rounded-md px-1 py-0.5 text-left text-sm hover:bg-hover"
            >
              {nameOf(draft, edge[farEnd])}
            </button>
            <BranchSelect {...props} edge={edge} />
            {editable ? (
              <>
                <IconButton
                  label={`Insert a step between ${edge.from} and ${edge.to}`}
                  size="sm"
                  onClick={() => props.onAdd({ kind: 'between', from: edge.from, to: edge.to })}
                >
                  <Plus aria-hidden className="size-3.5" />
                </IconButton>
                <IconButton
                  label={`Disconnect ${edge.from} from ${edge.to}`}
                  size="sm"
                  onClick={() => editor.disconnect(edge.from, edge.to)}
                >
                  <X aria-hidden className="size-3.5" />
                </IconButton>
              </>
            ) : null}
          </li>
        ))}
      </ul>
      {editable ? <StepPicker {...props} title={title} farEnd={farEnd} edges={edges} /> : null}
    </section>
  );
}

type BranchChoice = Branch | 'both' | '';
const branches: readonly { value: BranchChoice; label: string }[] = [
  { value: 'then', label: 'then' },
  { value: 'else', label: 'else' },
  { value: '', label: 'in either case' },
];
/** Offered only if the connection already has both branches: it means the same as “in either case”. */
const both = { value: 'both', label: 'then and else' } as const;

function BranchSelect({ editor, editable, store, edge }: Props & { edge: GraphEdge }) {
  const source = store.state.draft.graph.steps.find(({ id }) => id === edge.from);
  if (source === undefined || !hasBranches(source as GraphStepInput)) return null;
  return (
    <Select
      label={`Branch from ${edge.from} to ${edge.to}`}
      size="sm"
      className="w-28 shrink-0"
      disabled={!editable}
      value={edge.branch ?? ''}
      options={edge.branch === 'both' ? [both, ...branches] : branches}
      onChange={branch => {
        if (branch !== 'both') editor.setBranch(edge.from, edge.to, branch === '' ? null : branch);
      }}
    />
  );
}

/** Connects another step. Steps that would create a cycle are not offered. */
function StepPicker({ store, editor, step, title, farEnd }: ListProps) {
  const { draft } = store.state;
  const { edges } = editor.drawing;
  const excluded = useMemo(() => unconnectable(edges, step.id, farEnd), [edges, step.id, farEnd]);
  const offered = draft.graph.steps.filter(({ id }) => !excluded.has(id));
  const options = useSameOptions(offered.map(each => ({ value: each.id, label: optionLabel(each) })));
  if (options.length === 0) return null;
  return (
    <SearchSelect
      label={`${title}: add a step`}
      placeholder="Add a step …"
      value={undefined}
      options={options}
      onChange={chosen => {
        if (farEnd === 'from') editor.connect(chosen, step.id, undefined);
        else editor.connect(step.id, chosen, undefined);
      }}
    />
  );
}

const optionLabel = ({ id, name }: Step): string =>
  typeof name === 'string' && name !== '' && name !== id ? `${name} (${id})` : id;

/**
 * Returns the options of the last render if they are equal, so that typing in a step does not render 1,000 options
 * again.
 */
function useSameOptions(options: readonly SearchOption[]): readonly SearchOption[] {
  const last = useRef(options);
  const isSame =
    last.current.length === options.length &&
    options.every(({ value, label }, at) => last.current[at]?.value === value && last.current[at]?.label === label);
  if (!isSame) last.current = options;
  return last.current;
}
