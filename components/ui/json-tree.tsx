'use client';
import { ChevronRight, Download, Link2, Search } from 'lucide-react';
import { createContext, use, useMemo, useState } from 'react';
import { isObject, type Json } from '@/server/platform/json.ts';
// Enables JSON.stringify for bigints, also in values that the server has rendered.
import '@/server/platform/json-text.ts';
import { IconButton } from './button.tsx';
import { cx } from './classes.ts';
import { CopyButton, useCopy } from './copy.tsx';
import { download, fileName } from './download.ts';
import { controlClass } from './field.tsx';
import { memberPath, searchJson } from './json-path.ts';
import { ScrollRegion } from './scroll-region.tsx';

// A result may have 1 MiB: only open levels are in the DOM, and a long level ends with a button that shows more.
const PAGE = 100;
const MAX_MATCHES = 100;

type PathOf = (name: string) => string;
/** Returns the name of the resource with the id `text` in a field; undefined if it has no name. */
export type NameOf = (text: string, field: string | null) => string | undefined;

/** The number of initially open levels, the paths of the top-level keys, and the names that replace ids. */
const Settings = createContext<{ open: number; pathOf: PathOf | undefined; nameOf: NameOf | undefined }>({
  open: 2,
  pathOf: undefined,
  nameOf: undefined,
});

type Props = {
  value: Json;
  label?: string;
  /** The number of initially open levels. */
  open?: number;
  /** The path of the value in templates and scripts, such as `steps.a.result`. Copied paths start with it. */
  root?: string;
  /** Returns the path of a top-level key, if these keys are not members of one value. */
  pathOf?: PathOf;
  /** Returns names that are shown in place of ids. Copies keep the ids. */
  nameOf?: NameOf | undefined;
  /** Sets the height within which the tree scrolls. */
  className?: string;
};

/** A collapsible tree of any JSON value, with a search, and buttons that copy or download the whole value. */
export function JsonTree(props: Props) {
  const { value, label = 'JSON', open = 2, root = '', pathOf, nameOf, className = 'max-h-100' } = props;
  const settings = useMemo(() => ({ open, pathOf, nameOf }), [open, pathOf, nameOf]);
  const [search, setSearch] = useState<string | null>(null);
  const isLarge = value !== null && typeof value === 'object';
  const text = useMemo(() => JSON.stringify(value, null, 2), [value]);
  return (
    <div className={cx('@container relative flex flex-col rounded-md border bg-sunken', className)}>
      <div className="absolute top-1 right-1 z-10 flex rounded-md bg-sunken">
        {isLarge ? (
          <>
            <IconButton
              label={`Search ${label}`}
              size="sm"
              aria-expanded={search !== null}
              onClick={() => setSearch(search === null ? '' : null)}
            >
              <Search aria-hidden className="size-3.5" />
            </IconButton>
            <IconButton
              label={`Download ${label}`}
              size="sm"
              onClick={() => download(fileName(label, 'json'), 'application/json', text)}
            >
              <Download aria-hidden className="size-3.5" />
            </IconButton>
          </>
        ) : null}
        <CopyButton text={text} label={`Copy ${label}`} />
      </div>
      {search === null ? null : (
        <input
          // biome-ignore lint/a11y/noAutofocus: it appears because its button was pressed
          autoFocus
          type="search"
          aria-label={`Search in ${label}`}
          placeholder="Name or value"
          value={search}
          onChange={event => setSearch(event.target.value)}
          onKeyDown={event => {
            if (event.key === 'Escape') setSearch(null);
          }}
          className={cx(controlClass, 'm-1 mr-26 h-7 w-auto text-xs')}
        />
      )}
      <ScrollRegion
        label={label}
        className={cx('min-h-0 overflow-auto p-2 font-mono text-xs leading-6', search === null && '@md:pr-26')}
      >
        {/* If there is little space, only the first line leaves space for the buttons. */}
        {search === null ? <div aria-hidden className="float-right h-6 w-24 @md:hidden" /> : null}
        {search ? (
          <Matches value={value} root={root} pathOf={pathOf} text={search} />
        ) : (
          <Settings value={settings}>
            <Node name={null} path={root} value={value} depth={0} />
          </Settings>
        )}
      </ScrollRegion>
    </div>
  );
}

type MatchesProps = { value: Json; root: string; pathOf: PathOf | undefined; text: string };

function Matches({ value, root, pathOf, text }: MatchesProps) {
  const found = useMemo(() => {
    const parts: [string, Json][] =
      pathOf && isObject(value) ? Object.entries(value).map(([name, part]) => [pathOf(name), part]) : [[root, value]];
    return parts.flatMap(([path, part]) => searchJson(part, path, text, MAX_MATCHES)).slice(0, MAX_MATCHES);
  }, [value, root, pathOf, text]);
  if (found.length === 0) return <p className="text-muted">Nothing matches.</p>;
  return (
    <>
      {found.map(match => (
        <div key={match.path} className="group flex gap-1 wrap-anywhere">
          <span className="text-muted">{match.path}:</span>
          {match.value !== null && typeof match.value === 'object' ? (
            <span className="text-faint">{Array.isArray(match.value) ? '[…]' : '{…}'}</span>
          ) : (
            <Leaf value={match.value} />
          )}
          <CopyPath path={match.path} reachable />
        </div>
      ))}
      {found.length === MAX_MATCHES ? <p className="text-muted">The first {MAX_MATCHES} matches.</p> : null}
    </>
  );
}

/**
 * Copies the path of a value. Only in search results this button is reachable by keyboard: a tab stop in every row
 * would be too many.
 */
function CopyPath({ path, reachable = false }: { path: string; reachable?: boolean }) {
  const { copied, copy } = useCopy();
  if (path === '') return null;
  return (
    <button
      type="button"
      tabIndex={reachable ? undefined : -1}
      title={`Copy ${path}`}
      aria-label={copied ? 'Copied' : `Copy path ${path}`}
      onClick={() => void copy(path)}
      className={cx(
        'inline-flex size-6 shrink-0 items-center justify-center rounded-sm text-faint hover:text-text',
        !reachable && 'opacity-0 group-hover:opacity-100 focus-visible:opacity-100',
      )}
    >
      <Link2 aria-hidden className={cx('size-3', copied && 'text-ok')} />
    </button>
  );
}

type NodeProps = { name: string | null; path: string; value: Json; depth: number };

function Node({ name, path, value, depth }: NodeProps) {
  const { nameOf } = use(Settings);
  if (value === null || typeof value !== 'object')
    return (
      <div className="group flex pl-4 wrap-anywhere whitespace-pre-wrap">
        <Name name={name} />
        <Leaf value={value} name={typeof value === 'string' ? nameOf?.(value, name) : undefined} />
        <CopyPath path={path} />
      </div>
    );
  return <Branch name={name} path={path} value={value} depth={depth} />;
}

function Branch({ name, path, value, depth }: NodeProps & { value: Json[] | { [key: string]: Json } }) {
  const { open, pathOf } = use(Settings);
  const [unfolded, setUnfolded] = useState(depth < open);
  const [shown, setShown] = useState(PAGE);
  const entries: [string, Json][] = Array.isArray(value)
    ? value.map((item, index) => [String(index), item])
    : Object.entries(value);
  const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  if (entries.length === 0)
    return (
      <div className="flex pl-4">
        <Name name={name} />
        <span className="text-faint">{Array.isArray(value) ? '[]' : '{}'}</span>
      </div>
    );
  return (
    <div>
      <div className="group flex">
        <button
          type="button"
          aria-expanded={unfolded}
          onClick={() => setUnfolded(!unfolded)}
          className="flex min-h-6 items-center rounded-sm text-left hover:bg-hover"
        >
          <ChevronRight aria-hidden className={cx('size-3 w-4 text-faint', unfolded && 'rotate-90')} />
          <Name name={name} />
          <span className="text-faint">{size}</span>
        </button>
        <CopyPath path={path} />
      </div>
      {unfolded ? (
        <div className="ml-1.5 border-l pl-2">
          {entries.slice(0, shown).map(([key, item]) => (
            <Node
              key={key}
              name={key}
              path={pathOf && depth === 0 ? pathOf(key) : memberPath(path, Array.isArray(value) ? Number(key) : key)}
              value={item}
              depth={depth + 1}
            />
          ))}
          {entries.length > shown ? (
            <button
              type="button"
              onClick={() => setShown(shown + PAGE)}
              className="pl-4 text-accent-text hover:underline"
            >
              {entries.length - shown} more
            </button>
          ) : null}
        </div>
      ) : null}
    </div>
  );
}

function Name({ name }: { name: string | null }) {
  return name === null ? null : <span className="mr-1 shrink-0 text-muted">{name}:</span>;
}

function Leaf({ value, name }: { value: string | number | bigint | boolean | null; name?: string | undefined }) {
  if (name !== undefined && typeof value === 'string')
    return (
      <span title={value} className="underline decoration-dotted">
        {name}
      </span>
    );
  const tone = typeof value === 'string' ? 'text-ok' : value === null ? 'text-faint' : 'text-info';
  return <span className={tone}>{JSON.stringify(value)}</span>;
}
