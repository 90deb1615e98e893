'use client';
import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import type { Json } from '@/server/platform/json.ts';
import { cx } from './classes.ts';
import { CopyButton } from './copy.tsx';
import { ScrollRegion } from './scroll-region.tsx';

// A result may be 1 MiB: only what is open is in the DOM, and a long level is cut with a button for the rest.
const PAGE = 100;

/** Any JSON, foldable, with a button that copies all of it. `open` is how many levels begin unfolded. */
export function JsonTree({ value, label = 'JSON', open = 2 }: { value: Json; label?: string; open?: number }) {
  return (
    <div className="relative rounded-md border bg-sunken">
      <div className="absolute top-1 right-1">
        <CopyButton text={JSON.stringify(value, null, 2)} label={`Copy ${label}`} />
      </div>
      <ScrollRegion label={label} className="max-h-100 overflow-auto p-2 pr-10 font-mono text-xs leading-6">
        <Node name={null} value={value} depth={0} open={open} />
      </ScrollRegion>
    </div>
  );
}

function Node({ name, value, depth, open }: { name: string | null; value: Json; depth: number; open: number }) {
  if (value === null || typeof value !== 'object')
    return (
      <div className="flex pl-4 break-all whitespace-pre-wrap">
        <Name name={name} />
        <Leaf value={value} />
      </div>
    );
  return <Branch name={name} value={value} depth={depth} open={open} />;
}

function Branch({
  name,
  value,
  depth,
  open,
}: {
  name: string | null;
  value: Json[] | { [key: string]: Json };
  depth: number;
  open: number;
}) {
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
      {unfolded ? (
        <div className="ml-1.5 border-l pl-2">
          {entries.slice(0, shown).map(([key, item]) => (
            <Node key={key} name={key} value={item} depth={depth + 1} open={open} />
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

function Leaf({ value }: { value: string | number | boolean | null }) {
  const tone = typeof value === 'string' ? 'text-ok' : value === null ? 'text-faint' : 'text-info';
  return <span className={tone}>{JSON.stringify(value)}</span>;
}
