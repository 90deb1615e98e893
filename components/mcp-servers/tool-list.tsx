'use client';
import { useState } from 'react';
import type { Json } from '@/server/platform/json.ts';
import { Badge } from '../ui/badge.tsx';
import { CopyButton } from '../ui/copy.tsx';
import { JsonTree } from '../ui/json-tree.tsx';
import { SearchInput } from '../ui/search-input.tsx';
import type { Tool } from './auth-modes.ts';

// A server may have a thousand tools, so only the requested ones are rendered.
const PAGE = 50;

/**
 * Tools with their schemas, and a search. Names, titles and descriptions come from a third party: they are rendered as text, never as
 * markup.
 */
export function ToolList({ tools, label }: { tools: readonly Tool[]; label: string }) {
  const [query, setQuery] = useState('');
  const [shown, setShown] = useState(PAGE);
  const searched = query.trim().toLowerCase();
  const found = tools.filter(tool =>
    [tool.name, tool.title ?? '', tool.description ?? ''].some(text => text.toLowerCase().includes(searched)),
  );
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <SearchInput label="Search tools" value={query} onChange={setQuery} />
        <p aria-live="polite" className="text-sm text-muted tabular-nums">
          {searched ? `${found.length} of ${tools.length}` : `${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`}
        </p>
      </div>
      {found.length > 0 ? (
        <ul aria-label={label} className="flex flex-col divide-y rounded-lg border bg-surface">
          {found.slice(0, shown).map(tool => (
            <ToolEntry key={tool.name} tool={tool} />
          ))}
        </ul>
      ) : null}
      {found.length > shown ? (
        <button
          type="button"
          onClick={() => setShown(shown + PAGE)}
          className="self-start text-sm text-accent-text hover:underline"
        >
          {found.length - shown} more
        </button>
      ) : null}
    </div>
  );
}

function ToolEntry({ tool }: { tool: Tool }) {
  return (
    <li className="px-4 py-3">
      <details className="group">
        <summary className="cursor-default">
          <span className="inline-flex max-w-[calc(100%-24px)] flex-wrap items-center gap-x-2 gap-y-1 align-top">
            <code className="font-medium break-all">{tool.name}</code>
            {tool.title ? <span className="text-sm text-muted">{tool.title}</span> : null}
            <Hints tool={tool} />
          </span>
          {tool.description ? (
            <span className="mt-1 line-clamp-2 block text-sm text-muted group-open:hidden">{tool.description}</span>
          ) : null}
        </summary>
        <div className="mt-3 flex flex-col gap-3">
          <p className="flex items-center gap-1 text-xs text-muted">
            Name <CopyButton text={tool.name} label={`Copy ${tool.name}`} />
          </p>
          {tool.description ? <p className="text-sm wrap-anywhere whitespace-pre-wrap">{tool.description}</p> : null}
          <Schema title="Arguments" name={tool.name} value={tool.input_schema} />
          {tool.output_schema ? <Schema title="Result" name={tool.name} value={tool.output_schema} /> : null}
        </div>
      </details>
    </li>
  );
}

function Schema({ title, name, value }: { title: string; name: string; value: unknown }) {
  return (
    <div>
      <p className="mb-1 text-xs font-medium text-muted">{title}</p>
      <JsonTree value={value as Json} label={`${title} of ${name}`} />
    </div>
  );
}

function Hints({ tool }: { tool: Tool }) {
  const hints = tool.annotations ?? {};
  return (
    <>
      {hints.readOnlyHint === true ? (
        <Badge title="The server says that this tool is read-only">Read-only</Badge>
      ) : null}
      {hints.destructiveHint === true ? (
        <Badge tone="warn" title="The server says that this tool can delete or overwrite data">
          Destructive
        </Badge>
      ) : null}
    </>
  );
}
