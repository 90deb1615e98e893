'use client';
import { ChevronRight } from 'lucide-react';
import { Popover } from 'radix-ui';
import { type KeyboardEvent, type RefObject, useEffect, useId, useMemo, useRef, useState } from 'react';
import { cx } from '../../ui/classes.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import type { CodeLanguage } from '../code/languages.ts';
import type { KnownValues } from '../code/use-completion.tsx';
import { insertedText, PATH_MIME, pathText, type ValuePath } from './value-path.ts';
import { type ValueNode, type ValueRow, valueTree, visibleRows } from './value-tree.ts';

export type ValuePickerProps = {
  /** The element next to which the tree opens. */
  anchor: RefObject<HTMLElement | null>;
  language: CodeLanguage;
  load: () => Promise<KnownValues>;
  onPick: (path: ValuePath) => void;
  /** Called when the tree is closed without a choice. `byKey`: a key closed it, so the focus returns to the field. */
  onClose: (byKey: boolean) => void;
};

/** A tree of the values that a field can read. Values are picked or dragged from it. */
export function ValuePicker({ anchor, onClose, ...props }: ValuePickerProps) {
  const byKey = useRef(false);
  return (
    <Popover.Root open onOpenChange={open => open || onClose(byKey.current)}>
      <Popover.Anchor virtualRef={anchor as RefObject<HTMLElement>} />
      <Popover.Portal>
        <Popover.Content
          aria-label="Insert a value"
          align="start"
          side={isWide() ? 'left' : 'bottom'}
          sideOffset={isWide() ? 16 : 4}
          collisionPadding={8}
          onEscapeKeyDown={() => {
            byKey.current = true;
          }}
          onCloseAutoFocus={event => event.preventDefault()}
          className="z-50 flex w-84 max-w-[calc(100vw-16px)] flex-col overflow-hidden rounded-lg border bg-surface shadow-pop"
        >
          <Values {...props} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

/** Returns whether the tree fits beside the form, over the canvas, so that values can be dragged from there into any field. */
const isWide = () => window.matchMedia('(min-width: 1024px)').matches;

/** Loads the values once, when the tree is opened. */
function useTree(load: () => Promise<KnownValues>): readonly ValueNode[] | null {
  const [tree, setTree] = useState<readonly ValueNode[] | null>(null);
  useEffect(() => {
    let isShown = true;
    void load().then(values => {
      if (isShown) setTree(valueTree(values));
    });
    return () => {
      isShown = false;
    };
  }, [load]);
  return tree;
}

type ValuesProps = Pick<ValuePickerProps, 'language' | 'load' | 'onPick'>;

function Values({ language, load, onPick }: ValuesProps) {
  const tree = useTree(load);
  const list = useId();
  const [search, setSearch] = useState('');
  const [opened, setOpened] = useState<ReadonlySet<string> | null>(null);
  const [active, setActive] = useState('');
  // The input and the nearest earlier step, which users need most often, are expanded first.
  const first = useMemo(() => new Set(tree?.slice(0, 2).map(({ id }) => id)), [tree]);
  const open = opened ?? first;
  const rows = useMemo(() => visibleRows(tree ?? [], open, search), [tree, open, search]);
  const at = Math.max(
    0,
    rows.findIndex(({ node }) => node.id === active),
  );
  const row = rows[at];
  const moveTo = (index: number) => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (next !== undefined) setActive(next.node.id);
  };
  const toggle = ({ id }: ValueNode) => setOpened(open.has(id) ? without(open, id) : new Set([...open, id]));
  const onKeyDown = (event: KeyboardEvent) => {
    if (row === undefined) return;
    const isFlat = search !== '';
    const isOpen = open.has(row.node.id) && row.node.children.length > 0;
    if (event.key === 'ArrowDown') moveTo(at + 1);
    else if (event.key === 'ArrowUp') moveTo(at - 1);
    else if (event.key === 'Enter') onPick(row.node.path);
    else if (event.key === 'ArrowRight' && !isFlat && row.node.children.length > 0) {
      if (isOpen) moveTo(at + 1);
      else toggle(row.node);
    } else if (event.key === 'ArrowLeft' && !isFlat) {
      if (isOpen) toggle(row.node);
      else moveTo(rows.findLastIndex((each, index) => index < at && each.level < row.level));
    } else return;
    event.preventDefault();
  };
  const optionId = (node: ValueNode) => `${list}-${node.id}`;
  return (
    <>
      <input
        role="combobox"
        aria-label="Search values"
        aria-haspopup="tree"
        aria-expanded
        aria-controls={list}
        aria-activedescendant={row === undefined ? undefined : optionId(row.node)}
        value={search}
        placeholder="Search values…"
        autoComplete="off"
        spellCheck={false}
        onChange={event => {
          setSearch(event.target.value);
          setActive('');
        }}
        onKeyDown={onKeyDown}
        className="h-9 w-full border-b bg-transparent px-3 text-sm outline-none"
      />
      {tree === null ? (
        <div className="flex flex-col gap-2 p-3">
          <Skeleton className="h-4 w-2/3" />
          <Skeleton className="h-4 w-1/2" />
        </div>
      ) : (
        <Tree
          id={list}
          {...{ rows, open, language, optionId }}
          active={row?.node.id}
          isFlat={search !== ''}
          onToggle={toggle}
          onPick={onPick}
        />
      )}
    </>
  );
}

const without = (ids: ReadonlySet<string>, id: string) => new Set([...ids].filter(each => each !== id));

type TreeProps = {
  id: string;
  rows: readonly ValueRow[];
  open: ReadonlySet<string>;
  active: string | undefined;
  /** Whether the rows are search results with full paths. */
  isFlat: boolean;
  language: CodeLanguage;
  optionId: (node: ValueNode) => string;
  onToggle: (node: ValueNode) => void;
  onPick: (path: ValuePath) => void;
};

function Tree({ id, rows, open, active, isFlat, language, optionId, onToggle, onPick }: TreeProps) {
  const tree = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (active !== undefined)
      tree.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  if (rows.length === 0)
    return (
      <p role="status" className="px-3 py-3 text-sm text-muted">
        No value matches.
      </p>
    );
  return (
    <div ref={tree} id={id} role="tree" aria-label="Values" className="max-h-72 overflow-y-auto p-1">
      {rows.map(({ node, level }) => {
        const isBranch = !isFlat && node.children.length > 0;
        return (
          <div
            key={node.id}
            id={optionId(node)}
            role="treeitem"
            tabIndex={-1}
            aria-level={level}
            aria-selected={node.id === active}
            aria-expanded={isBranch ? open.has(node.id) : undefined}
            draggable
            onDragStart={event => {
              event.dataTransfer.effectAllowed = 'copy';
              event.dataTransfer.setData(PATH_MIME, JSON.stringify(node.path));
              event.dataTransfer.setData('text/plain', insertedText(node.path, language, ''));
            }}
            onClick={() => onPick(node.path)}
            onKeyDown={event => {
              if (event.key === 'Enter') onPick(node.path);
            }}
            style={{ paddingLeft: `${(level - 1) * 14 + 4}px` }}
            title={pathText(node.path, language)}
            className={cx(
              'flex min-h-7 cursor-grab items-center gap-1 rounded-md pr-2 text-sm hover:bg-hover',
              node.id === active && 'bg-hover',
            )}
          >
            <Chevron node={node} isBranch={isBranch} isOpen={open.has(node.id)} onToggle={onToggle} />
            <span className={cx('min-w-0 truncate', level === 1 && !isFlat && 'font-medium')}>
              {isFlat ? pathText(node.path, language) : node.label}
            </span>
            <Sample node={node} />
          </div>
        );
      })}
    </div>
  );
}

type ChevronProps = { node: ValueNode; isBranch: boolean; isOpen: boolean; onToggle: (node: ValueNode) => void };

function Chevron({ node, isBranch, isOpen, onToggle }: ChevronProps) {
  if (!isBranch) return <span aria-hidden className="size-5 shrink-0" />;
  return (
    <span
      aria-hidden
      onClick={event => {
        event.stopPropagation();
        onToggle(node);
      }}
      className="flex size-5 shrink-0 cursor-pointer items-center justify-center rounded-sm text-faint hover:text-text"
    >
      <ChevronRight className={cx('size-3.5', isOpen && 'rotate-90')} />
    </span>
  );
}

/** The last value, or the kind of the value if the last value is unknown. */
function Sample({ node }: { node: ValueNode }) {
  if (node.sample === undefined || node.kind === 'object' || node.kind === 'list')
    return (
      <span className="ml-auto shrink-0 pl-2 text-xs text-muted">{node.kind === 'any' ? node.detail : node.kind}</span>
    );
  return <span className="ml-auto min-w-0 max-w-1/2 truncate pl-2 font-mono text-xs text-ok">{node.sample}</span>;
}
